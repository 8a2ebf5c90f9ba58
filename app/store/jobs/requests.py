"""The users who asked for each job: the accept record of each job, the users who joined, and so everybody's history."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.domain.plans import Tier
from app.domain.queues import Service
from app.store.analyses.codebases import Codebase
from app.store.core.unit_of_work import Tx


@dataclass(frozen=True, slots=True)
class Request:
    """A user's request for a job.

    role: payer (the job was accepted for this request), joined, cached, or left (had joined); user_id, tier: None for
    the schedule; retention_days: of the plan at that time, None = for ever; service: of the job.
    """

    job_id: UUID
    user_id: UUID | None
    role: str
    codebase: Codebase
    commit_sha: str
    ref: str | None
    trigger: str
    queue: str
    tier: Tier | None
    requested_at: datetime
    retention_days: int | None
    cancelled_at: datetime | None = None
    service: Service = Service.ANALYSIS

    @property
    def codebase_id(self) -> UUID:
        """The id of the repository."""
        return self.codebase.codebase_id


_WRITTEN = (
    "job_id", "user_id", "role", "codebase_id", "commit_sha", "ref", "trigger", "queue", "requested_at",
    "retention_days", "service",
)  # fmt: skip
_ADD = text("""
    INSERT INTO analysis_requests (job_id, user_id, role, codebase_id, commit_sha, ref, trigger, queue, tier,
                                   requested_at, retention_days, service)
    VALUES (:job_id, :user_id, :role, :codebase_id, :commit_sha, :ref, :trigger, :queue, CAST(:tier AS plan_tier),
            :requested_at, :retention_days, :service)
    ON CONFLICT (job_id, user_id) DO UPDATE SET role = excluded.role WHERE analysis_requests.role = 'left'""")
_COLUMNS = """
    r.job_id, r.user_id, r.role, r.codebase_id, r.commit_sha, r.ref, r.trigger, r.queue, r.tier, r.requested_at,
    r.cancelled_at, r.service, c.host, c.owner, c.name, c.is_private
"""
_ACCEPTED = text(f"""
    SELECT {_COLUMNS} FROM analysis_requests r JOIN codebases c ON c.id = r.codebase_id
     WHERE r.job_id = :job_id AND r.role = 'payer'""")
_ACCEPTED_EACH = text(f"""
    SELECT {_COLUMNS} FROM analysis_requests r JOIN codebases c ON c.id = r.codebase_id
     WHERE r.job_id = ANY(CAST(:job_ids AS uuid[])) AND r.role = 'payer'""")
_ROLE = text("SELECT role FROM analysis_requests WHERE job_id = :job_id AND user_id = :user_id")
_ASKED_OF = text("""
    SELECT EXISTS (SELECT FROM analysis_requests
                    WHERE codebase_id = :codebase_id AND user_id = :user_id AND role <> 'left')""")
_OF_USER = text("""
    SELECT job_id, tier, queue FROM analysis_requests
     WHERE job_id = ANY(CAST(:job_ids AS uuid[])) AND user_id = :user_id AND role <> 'left'""")
_CANCELLED = text("UPDATE analysis_requests SET cancelled_at = :now WHERE job_id = :job_id AND cancelled_at IS NULL")
_WITHDRAW = text("UPDATE analysis_requests SET cancelled_at = :now WHERE job_id = :job_id AND user_id = :user_id")
_RETURN = text("UPDATE analysis_requests SET cancelled_at = NULL WHERE job_id = :job_id AND user_id = :user_id")
_LEAVE = text("""
    UPDATE analysis_requests SET role = 'left' WHERE job_id = :job_id AND user_id = :user_id AND role = 'joined'""")
_OTHERS = text("""
    SELECT count(*) FROM analysis_requests
     WHERE job_id = :job_id AND role = 'joined' AND cancelled_at IS NULL AND user_id IS DISTINCT FROM :user_id""")
_HISTORY = text("""
    SELECT r.id, r.job_id FROM analysis_requests r
     WHERE r.user_id = :user_id AND r.role <> 'left' AND (CAST(:before AS bigint) IS NULL OR r.id < :before)
     ORDER BY r.id DESC LIMIT :most""")
# What a visitor asked for, as if the user had asked when the visitor did.  The visitor's row stays, with its bill.
_TAKE_OVER = text("""
    INSERT INTO analysis_requests (job_id, user_id, role, codebase_id, commit_sha, ref, trigger, queue, tier,
                                   requested_at, retention_days, service)
    SELECT r.job_id, :user_id, :role, r.codebase_id, r.commit_sha, r.ref, 'user', r.queue, r.tier, r.requested_at,
           :retention_days, r.service
      FROM analysis_requests r JOIN users u ON u.id = r.user_id AND u.kind = 'anonymous'
     WHERE r.job_id = :job_id AND r.role <> 'left' AND r.cancelled_at IS NULL
     ORDER BY r.id LIMIT 1
    ON CONFLICT (job_id, user_id) DO NOTHING""")
# Only so many of the newest requests are looked at, so that a long history costs nothing.
_NEWEST = """
      FROM (SELECT job_id, id FROM analysis_requests
             WHERE user_id = :user_id AND role <> 'left' {and_not} ORDER BY id DESC LIMIT :searched) r"""
# Jobs that have a message; running ones first, so that those left out wait.
_UNFINISHED = text(f"""
    SELECT r.job_id, count(*) OVER () AS of {_NEWEST.format(and_not="AND cancelled_at IS NULL")}
      JOIN broker_message m ON m.task_id = CAST(r.job_id AS text)
     ORDER BY m.started_at IS NULL, r.id LIMIT :most""")
_ENDED = text(f"""
    SELECT r.job_id {_NEWEST.format(and_not="")}
     WHERE NOT EXISTS (SELECT FROM broker_message m WHERE m.task_id = CAST(r.job_id AS text))
     ORDER BY r.id DESC LIMIT :most""")


class AcceptedRow(NamedTuple):
    """How a job was accepted: the payer's request with the repository's address, named as in Request."""

    job_id: UUID
    user_id: UUID | None
    role: str
    codebase_id: UUID
    commit_sha: str
    ref: str | None
    trigger: str
    queue: str
    tier: str | None
    requested_at: datetime
    cancelled_at: datetime | None
    service: str
    host: str
    owner: str
    name: str
    is_private: bool


class OwnRequestRow(NamedTuple):
    """A user's own request of a job."""

    job_id: UUID
    tier: str | None
    queue: str


class HistoryRow(NamedTuple):
    """A request of a user's history.  id: of the request."""

    id: int
    job_id: UUID


def add(tx: Tx, *added: Request) -> None:
    """Record that a user asked for jobs.  Asking twice leaves one row; a user who left and joins again is joined."""
    tx.write_each(_ADD, [_row(request) for request in added])


def _row(request: Request) -> dict[str, object]:
    tier = request.tier.value if request.tier else None
    return {**{name: getattr(request, name) for name in _WRITTEN}, "tier": tier}


def accepted(tx: Tx, job_id: UUID) -> AcceptedRow | None:
    """How a job was accepted, None if it does not exist."""
    return tx.run(_ACCEPTED, job_id=job_id).value_or_none(AcceptedRow)


def accepted_each(tx: Tx, job_ids: Collection[UUID]) -> dict[UUID, AcceptedRow]:
    """How many jobs were accepted, by job; jobs that do not exist are missing."""
    return {row.job_id: row for row in tx.run(_ACCEPTED_EACH, job_ids=[*map(str, job_ids)]).values(AcceptedRow)}


def of_user(tx: Tx, job_ids: Collection[UUID], user_id: UUID) -> list[OwnRequestRow]:
    """The user's own requests of jobs that the user has not left."""
    return tx.run(_OF_USER, job_ids=[*map(str, job_ids)], user_id=user_id).values(OwnRequestRow)


def role(tx: Tx, job_id: UUID, user_id: UUID) -> str | None:
    """The user's role in the job; None if there is none."""
    found: str | None = tx.run(_ROLE, job_id=job_id, user_id=user_id).scalar_one_or_none()
    return found


def has_asked(tx: Tx, job_id: UUID, user_id: UUID) -> bool:
    """Whether the user asked for the job and has not left it."""
    return role(tx, job_id, user_id) not in (None, "left")


def has_asked_of(tx: Tx, codebase_id: UUID, user_id: UUID) -> bool:
    """Whether the user asked for any job of the repository and has not left it."""
    return bool(tx.run(_ASKED_OF, codebase_id=codebase_id, user_id=user_id).scalar_one())


def cancelled(tx: Tx, job_id: UUID, *, now: datetime) -> None:
    """Mark a job that ended before any worker made its record."""
    tx.write(_CANCELLED, job_id=job_id, now=now)


def take_over(tx: Tx, job_id: UUID, user_id: UUID, role: str, *, retention_days: int | None) -> bool:
    """Give a user a visitor's request.  role: joined or cached.

    Returns: False if no visitor wants the job, or the user has asked for it.
    """
    given = {"job_id": job_id, "user_id": user_id, "role": role, "retention_days": retention_days}
    return tx.run(_TAKE_OVER, **given).rowcount > 0


def withdraw(tx: Tx, job_id: UUID, user_id: UUID, *, now: datetime) -> None:
    """Note that the payer no longer wants the job, which continues for others."""
    tx.write(_WITHDRAW, job_id=job_id, user_id=user_id, now=now)


def take_back(tx: Tx, job_id: UUID, user_id: UUID) -> None:
    """Note that the payer wants the job again."""
    tx.write(_RETURN, job_id=job_id, user_id=user_id)


def leave(tx: Tx, job_id: UUID, user_id: UUID) -> None:
    """Remove a user who joined from a job; the row stays, so that leaving twice is not an error."""
    tx.write(_LEAVE, job_id=job_id, user_id=user_id)


def others(tx: Tx, job_id: UUID, user_id: UUID | None) -> int:
    """How many users besides this one have joined a job."""
    return int(tx.run(_OTHERS, job_id=job_id, user_id=user_id).scalar_one())


def history(tx: Tx, user_id: UUID, *, before: int | None, most: int) -> list[HistoryRow]:
    """The user's requests, newest first; before: id of the last row of the page before."""
    return tx.run(_HISTORY, user_id=user_id, before=before, most=most).values(HistoryRow)


def unfinished(tx: Tx, user_id: UUID, *, most: int, searched: int = 500) -> tuple[list[UUID], int]:
    """The user's running jobs, then the oldest ones that wait, and how many there are of both.

    searched: how many of the newest requests are looked through.
    """
    rows = tx.run(_UNFINISHED, user_id=user_id, most=most, searched=searched).all()
    return [row.job_id for row in rows], rows[0].of if rows else 0


def ended(tx: Tx, user_id: UUID, *, most: int, searched: int = 500) -> list[UUID]:
    """The user's newest jobs without a message.  searched: as of `unfinished`."""
    return list(tx.run(_ENDED, user_id=user_id, most=most, searched=searched).scalars())
