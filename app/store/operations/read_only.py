"""Whether changes are taken: an operator has switched them off, or the database takes none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_STATE = text("""
    SELECT current_setting('transaction_read_only') = 'on' AS is_databases, r.since, r.actor, r.reason
      FROM (SELECT) AS one LEFT JOIN read_only r ON true""")
# a second one changes the reason, and not since when
_ON = text("""
    INSERT INTO read_only (actor, reason) VALUES (:actor, :reason)
    ON CONFLICT (only_row) DO UPDATE SET actor = excluded.actor, reason = excluded.reason""")
_OFF = text("DELETE FROM read_only")


@dataclass(frozen=True, slots=True)
class ChangesState:
    """Why no changes are taken, if so.

    is_databases: the database takes none, as a standby does; since, actor, reason: of the operator who has switched
    them off, or None.
    """

    is_databases: bool
    since: datetime | None
    actor: str | None
    reason: str | None


def state(tx: Tx) -> ChangesState:
    """Read it, by one statement."""
    return tx.run(_STATE).value(ChangesState)


def switch(tx: Tx, *, on: bool, actor: str, reason: str | None) -> None:
    """Take no changes from now on, or take them again.  Locks: the row."""
    if on:
        tx.write(_ON, actor=actor, reason=reason)
    else:
        tx.write(_OFF)
