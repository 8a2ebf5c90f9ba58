"""What a replica needs to have before something is read from it (docs/adr/0093)."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.exc import DBAPIError

from app.store.core.database_errors import code_of
from app.store.core.session import Session

#: How a read waits for a position: replay follows a commit within milliseconds.
PAUSES = (0.002, 0.004, 0.008, 0.016, 0.032)

#: No right, no such function, a function that the server does not have (Aurora).
UNTOLD = ("42501", "42883", "0A000")

# pg_current_wal_flush_lsn raises on a standby.  Events of other kinds may be seen before they are on the disk.
_POSITION = text("""
    SELECT lsn, ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::integer AS timeline, e.id AS event_id, e.job_id
      FROM (SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_flush_lsn() END AS lsn) AS here,
           (SELECT id, job_id FROM job_events WHERE event IN ('accepted', 'completed') ORDER BY id DESC LIMIT 1) AS e
     WHERE lsn IS NOT NULL""")
_STANDS = "pg_is_in_recovery() AS is_standby, (SELECT version_num FROM alembic_version) AS revision"
# The control file names the timeline of the last restart point, or of the last pages that were written.
_REACHED = text(f"""
    SELECT {_STANDS}, coalesce(pg_last_wal_replay_lsn() >= CAST(:lsn AS pg_lsn), false) AS has_log,
           (SELECT greatest(timeline_id, min_recovery_end_timeline) FROM pg_control_checkpoint(), pg_control_recovery())
               = :timeline AS is_on_timeline,
           EXISTS (SELECT FROM job_events WHERE id = :event_id AND job_id = :job_id) AS has_event""")
_COMPLETED = text(f"""
    SELECT {_STANDS}, (
           SELECT count(*) FROM job_records r
            WHERE id = ANY (CAST(:job_ids AS uuid[])) AND status = 'completed'
              AND (CAST(:user_id AS uuid) IS NULL OR EXISTS (
                   SELECT FROM analysis_requests m
                    WHERE m.job_id = r.id AND m.user_id = :user_id AND m.role <> 'left'))) AS completed""")


class ReplicaFault(StrEnum):
    """Why the primary had to answer a read."""

    NONE = "none"  #: it had not: the replica has answered
    BEHIND = "behind"  #: the replica has not replayed what the primary had
    LACKING = "lacking"  #: it does not have a job that has completed
    CONFLICT = "conflict"  #: its replay cancelled the read
    BUSY = "busy"  #: no connection was free
    AWAY = "away"  #: it has failed
    UNFIT = "unfit"  #: it is no standby, or its schema is an earlier one


class UnusableError(Exception):
    """The replica has not answered, so that the primary has to.  Its text says why."""

    def __init__(self, reason: ReplicaFault, said: str) -> None:
        super().__init__(said)
        self.reason = reason


class Need(Protocol):
    """What a read needs the replica to have."""

    def check(self, replica: Session, needed: str) -> None:
        """Check it in the transaction of the read.  needed: the revision of the schema.  Raises: UnusableError."""


@dataclass(frozen=True, slots=True)
class Completed:
    """Jobs that have completed on the primary and must have there.  What has completed never changes.

    user_id: whose requests for them are needed as well.  They come later when a visitor's are taken over, and when an
    account comes from another cell, together with its bills.
    """

    job_ids: Collection[UUID]
    user_id: UUID | None = None

    def check(self, replica: Session, needed: str) -> None:
        """Look for the records.  Raises: UnusableError."""
        found = replica.execute(_COMPLETED, {"job_ids": [*map(str, self.job_ids)], "user_id": self.user_id}).one()
        _check_stands(found, needed)
        if found.completed < len(set(self.job_ids)):
            raise UnusableError(ReplicaFault.LACKING, "it does not have the job yet")


class Position(NamedTuple):
    """The end of the log on the primary's disk: every commit that waits for the disk and was seen is before it.

    timeline: of that log; event_id, job_id: of the newest event that waited for the disk, which the log of another
    server does not have.
    """

    lsn: str
    timeline: int
    event_id: int
    job_id: UUID

    def check(self, replica: Session, needed: str) -> None:
        """Wait for the replay to reach it, 62 ms at most.  Raises: UnusableError."""
        for pause in (*PAUSES, None):
            found = replica.execute(_REACHED, self._asdict()).one()
            _check_stands(found, needed)
            if found.has_log and found.is_on_timeline and found.has_event:
                return
            if pause is not None:
                time.sleep(pause)
        said = "it has not replayed what the primary had"
        if found.has_log:
            said = "it is on another timeline" if not found.is_on_timeline else "it does not have the newest event"
        raise UnusableError(ReplicaFault.BEHIND, said)


def position(primary: Session) -> Position | None:
    """The primary's position; None if it is a standby itself, or no job has ever had an event.

    Raises: UnusableError if the role may not read it, or the server has none.
    """
    try:
        return primary.execute(_POSITION).value_or_none(Position)
    except DBAPIError as error:
        if (code := code_of(error)) not in UNTOLD:
            raise
        raise UnusableError(ReplicaFault.BEHIND, f"the primary does not tell its position ({code})") from error


def _check_stands(found: Row[Any], needed: str) -> None:
    """Check that the replica follows a primary, and that it has the schema of this release."""
    if not found.is_standby:
        raise UnusableError(ReplicaFault.UNFIT, "it is not a standby")
    if found.revision is None or found.revision < needed:
        raise UnusableError(ReplicaFault.UNFIT, f"its schema is at revision {found.revision}, not {needed}")
