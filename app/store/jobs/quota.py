"""Reservations and usage events: what is reserved and what was billed (docs/adr/0005)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import text

from app.domain.periods import Period
from app.domain.plans import EventType
from app.domain.quota import Usage
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx

# in sql/usage.sql: whole hours are summed up as the events are written
_USAGE = text("""
    SELECT usage_used(:user_id, CAST(:event_type AS usage_event_type), :start, :end) AS used,
           (SELECT coalesce(sum(reserved_amount), 0) FROM quota_reservations
             WHERE user_id = :user_id AND event_type = CAST(:event_type AS usage_event_type)) AS reserved""")
_RESERVE = text("""
    INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
    VALUES (:user_id, CAST(:event_type AS usage_event_type), :amount, :job_id, :accepted_at, :expires_at)""")
# The event bills what was reserved, or less if the job cost less, to the user and at the time of the accept: one row or
# none, whatever the plan says now.
_SETTLE = text("""
    WITH ended AS (DELETE FROM quota_reservations WHERE job_id = :job_id
                   RETURNING user_id, event_type, reserved_amount, accepted_at)
    INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
    SELECT user_id, event_type, least(reserved_amount, :cost), :job_id, :resource_id, accepted_at, :now FROM ended
     WHERE coalesce(CAST(:cost AS integer), 1) > 0""")
_BILL = text(_SETTLE.text + " RETURNING quota_amount")
_HELD = text("SELECT reserved_amount FROM quota_reservations WHERE job_id = :job_id")
_RELEASE = text("DELETE FROM quota_reservations WHERE job_id = :job_id RETURNING reserved_amount")
_BILLED = text("""
    SELECT job_id FROM usage_events WHERE job_id = ANY(CAST(:job_ids AS uuid[])) AND user_id = :user_id""")
_LIST = text("""
    SELECT job_id, event_type, reserved_amount, accepted_at, expires_at FROM quota_reservations
     WHERE user_id = :user_id ORDER BY accepted_at, job_id""")
# A transaction that has locked a reservation is ending its job.  The sweep handles rows of many users and waits for
# none of them.  It goes through the keys in windows: by expiry, each batch would begin among the rows that earlier
# batches have moved.
_NEXT = text("""
    SELECT id FROM (SELECT id FROM quota_reservations WHERE id > :after ORDER BY id LIMIT :most) AS next
     ORDER BY id DESC LIMIT 1""")
_EXTEND_LIVING = text("""
    WITH living AS (
        SELECT id FROM quota_reservations r
         WHERE r.id > :after AND r.id <= :upto AND r.expires_at < :soon
           AND EXISTS (SELECT FROM broker_message m WHERE m.task_id = r.job_id::text)
         FOR NO KEY UPDATE SKIP LOCKED)
    UPDATE quota_reservations r SET expires_at = :until FROM living WHERE r.id = living.id""")
# A dead letter's job is unfinished until the sweep has ended it or an operator redrives it.
_SWEEP = text("""
    WITH orphans AS (
        SELECT r.id FROM quota_reservations r LEFT JOIN job_records a ON a.id = r.job_id
         WHERE r.expires_at < :now
           AND NOT EXISTS (SELECT FROM broker_message m WHERE m.task_id = r.job_id::text)
           AND NOT EXISTS (SELECT FROM broker_dead_letter d
                            WHERE d.task_id = r.job_id::text AND coalesce(a.status, 'running') = 'running')
         ORDER BY r.expires_at LIMIT :most FOR UPDATE OF r SKIP LOCKED)
    DELETE FROM quota_reservations r USING orphans WHERE r.id = orphans.id
    RETURNING r.job_id, r.user_id, r.reserved_amount""")


@dataclass(frozen=True, slots=True)
class Reservation:
    """Units reserved for one unfinished job."""

    job_id: UUID
    event_type: str
    reserved_amount: int
    accepted_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Sums:
    """Units used in a period, and reserved at the moment of the sum."""

    period: Period
    used: int
    reserved: int


def usage(tx: Tx, user_id: UUID, event_type: EventType, period: Period, limit: int | None) -> Usage:
    """Units used in the period and reserved now.  Exact only while the caller has locked the user's row."""
    row = tx.run(_USAGE, user_id=user_id, event_type=event_type.value, start=period.start, end=period.end).one()
    return Usage(int(row.used), int(row.reserved), limit)


def reserve(
    tx: Tx, *job_ids: UUID, user_id: UUID, event_type: EventType, amount: int, now: datetime, ttl: timedelta
) -> None:
    """Reserve `amount` units for each job until it ends.  The caller has locked the user's row."""
    same = {"user_id": user_id, "event_type": event_type.value, "amount": amount}
    rows = [{**same, "job_id": job_id, "accepted_at": now, "expires_at": now + ttl} for job_id in job_ids]
    tx.write_each(_RESERVE, rows)


def settle(tx: Tx, job_id: UUID, *, resource_id: UUID, cost: int | None = None, now: datetime) -> None:
    """Turn a job's reservation into its usage event; without a reservation nothing is billed.

    cost: units the job cost in the end, None for as many as it reserved.  Units beyond that are returned.  Never more
    is billed than was reserved, because only that was checked against the limit.
    """
    tx.write(_SETTLE, job_id=job_id, resource_id=resource_id, cost=cost, now=now)


def bill(tx: Tx, job_id: UUID, *, cost: int, now: datetime) -> int:
    """Settle a job that is its own resource.  Returns: the billed units."""
    row = tx.run(_BILL, job_id=job_id, resource_id=job_id, cost=cost, now=now).one_or_none()
    return int(row.quota_amount) if row else 0


def held(tx: Tx, job_id: UUID) -> int:
    """Units that are reserved for a job; 0 without a reservation."""
    row = tx.run(_HELD, job_id=job_id).one_or_none()
    return int(row.reserved_amount) if row else 0


def release(tx: Tx, job_id: UUID) -> int:
    """Release a job's reservation.  Returns: units, 0 without a reservation."""
    row = tx.run(_RELEASE, job_id=job_id).one_or_none()
    return int(row.reserved_amount) if row else 0


def billed_of(tx: Tx, job_ids: Collection[UUID], user_id: UUID) -> set[UUID]:
    """Select the jobs for which this user was billed."""
    return set(tx.run(_BILLED, job_ids=[*map(str, job_ids)], user_id=user_id).scalars())


def reservations_of(tx: Tx, user_id: UUID) -> list[Reservation]:
    """The user's reservations, oldest first."""
    return tx.run(_LIST, user_id=user_id).values(Reservation)


def extend_living(tx: Tx, after: UUID | None, most: int, *, now: datetime, ttl: timedelta) -> Batch:
    """Extend the reservations whose job still has a message, however long it waits.

    Locks: those reservations, never waiting for one.
    """
    begin = after or UUID(int=0)
    upto = tx.run(_NEXT, after=begin, most=most).scalar_one_or_none()
    if upto is None:
        return Batch(None, 0)
    return Batch(upto, tx.run(_EXTEND_LIVING, after=begin, upto=upto, soon=now + ttl / 2, until=now + ttl).rowcount)


def sweep(tx: Tx, *, now: datetime, most: int = 1000) -> list[dict[str, object]]:
    """Delete expired reservations whose job no longer exists, `most` a run.  rows: job_id, user_id, reserved_amount."""
    return [dict(row) for row in tx.run(_SWEEP, now=now, most=most).mappings()]
