"""The bills of a span, for a file outside of the database."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

# Deleting an account moves the times of its bills to the beginning of their day: without one snapshot, a bill could
# move from an hour that is still to be read into one that was read.
_SNAPSHOT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
_OPEN = text("SELECT count(*) FROM quota_reservations WHERE accepted_at < :end")
_BETWEEN = text("""
    SELECT user_id, event_type::text AS event_type, quota_amount, job_id, resource_id, accepted_at, created_at
      FROM usage_events WHERE accepted_at >= :begin AND accepted_at < :end ORDER BY accepted_at, id""")


class BillRow(NamedTuple):
    """A bill.  user_id: None once the account was deleted; accepted_at: decides its period."""

    user_id: UUID | None
    event_type: str
    quota_amount: int
    job_id: UUID
    resource_id: UUID
    accepted_at: datetime
    created_at: datetime


def see_one_moment(tx: Tx) -> None:
    """Let every statement of the transaction see the same, and change nothing; it must be the first one."""
    tx.run(_SNAPSHOT)


def unfinished(tx: Tx, end: datetime) -> int:
    """How many jobs that were accepted before then can still be billed."""
    return int(tx.run(_OPEN, end=end).scalar_one())


def between(tx: Tx, begin: datetime, end: datetime) -> list[BillRow]:
    """The bills of jobs that were accepted in [begin, end), in that order."""
    return tx.run(_BETWEEN, begin=begin, end=end).values(BillRow)
