"""The schedule slots that were sent, and the leader."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, text

from app.store.core.unit_of_work import Tx

_TAKE = text("""
    INSERT INTO schedule_runs (name, slot_at) VALUES (:name, :slot_at) ON CONFLICT DO NOTHING RETURNING name""")
_PRUNE = text("DELETE FROM schedule_runs WHERE slot_at < :before")
_LEAD = text("SELECT pg_try_advisory_lock(hashtext('fairlane beat leader'), 0)")
_ALIVE = text("SELECT 1")


def take(tx: Tx, name: str, slot_at: datetime) -> bool:
    """Record one slot as sent; False if it was sent before."""
    return tx.run(_TAKE, name=name, slot_at=slot_at).one_or_none() is not None


def prune(tx: Tx, *, before: datetime) -> int:
    """Delete old slots.  Returns: how many."""
    return tx.run(_PRUNE, before=before).rowcount


def lead(connection: Connection) -> bool:
    """Become the leader, for as long as this connection lives.  Locks: a session advisory lock, without waiting."""
    return bool(connection.execute(_LEAD).scalar_one())


def alive(connection: Connection) -> None:
    """Raises if the connection, and with it the lead, is gone."""
    connection.execute(_ALIVE)
