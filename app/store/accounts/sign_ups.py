"""How many accounts people created themselves, by UTC day, and by network."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_COUNT = text("""
    INSERT INTO sign_up_days AS d (day, accounts) VALUES (CAST(:now AS timestamptz) AT TIME ZONE 'UTC', 1)
    ON CONFLICT (day) DO UPDATE SET accounts = d.accounts + 1 WHERE d.accounts < :most RETURNING accounts""")
_COUNT_OF = text("""
    INSERT INTO sign_up_networks AS n (day, network, accounts)
    VALUES (CAST(:now AS timestamptz) AT TIME ZONE 'UTC', :network, 1)
    ON CONFLICT (day, network) DO UPDATE SET accounts = n.accounts + 1 WHERE n.accounts < :most RETURNING accounts""")
_PRUNE_NETWORKS = text("DELETE FROM sign_up_networks WHERE day < (CAST(:now AS timestamptz) AT TIME ZONE 'UTC')::date")
_PRUNE = text("DELETE FROM sign_up_days WHERE day < (CAST(:now AS timestamptz) AT TIME ZONE 'UTC')::date - 7")


def count(tx: Tx, *, most: int, now: datetime) -> bool:
    """Count a sign-up; False if the day has `most` already.  Locks: the day's row, so that the limit is exact."""
    return tx.run(_COUNT, most=most, now=now).one_or_none() is not None


def count_of(tx: Tx, network: UUID, *, most: int, now: datetime) -> bool:
    """Count a sign-up; False if it has `most` already.  network: a pseudonym.  Locks: its row of the day."""
    return tx.run(_COUNT_OF, network=network, most=most, now=now).one_or_none() is not None


def prune(tx: Tx, *, now: datetime) -> int:
    """Delete the counts of past weeks, and of networks those of past days.  Returns: how many."""
    return tx.run(_PRUNE, now=now).rowcount + tx.run(_PRUNE_NETWORKS, now=now).rowcount
