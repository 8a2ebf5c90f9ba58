"""Execution slots: one row per running job of a user and service (docs/adr/0003)."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.domain.lifecycle import Delivery
from app.domain.queues import Service
from app.store.core.unit_of_work import Tx

# A slot lives as long as the lease of the message under which it was taken.  When that lease is gone (worker dead,
# message rescued, job ended), the row is a left-over, whatever its own expiry says.  So dead jobs never count against a
# limit.
_DROP_DEAD = text("""
    DELETE FROM execution_slots s
     WHERE s.job_id = :job_id
        OR (s.user_id = :user_id AND s.service = :service
            AND NOT EXISTS (SELECT FROM broker_delivery(s.job_id::text, s.lease_token)))""")
# A user at the limit gets no number, and the column refuses a slot without one.
_ACQUIRE = text("""
    INSERT INTO execution_slots (user_id, service, slot_no, slot_limit, job_id, lease_token, taken_at, lease_expires_at)
    VALUES (:user_id, :service, (
        SELECT free.slot_no FROM generate_series(1, :slots) AS free(slot_no)
         WHERE (SELECT count(*) FROM execution_slots WHERE user_id = :user_id AND service = :service) < :slots
           AND NOT EXISTS (SELECT FROM execution_slots s
                            WHERE s.user_id = :user_id AND s.service = :service AND s.slot_no = free.slot_no)
         ORDER BY free.slot_no LIMIT 1), :slots, :job_id, :lease_token, :now,
        clock_timestamp() + make_interval(secs => :lease_seconds))""")
_RELEASE = text("DELETE FROM execution_slots WHERE job_id = :job_id")
# A start that deletes the same rows has locked them: they are skipped, because waiting for them could deadlock.
_SWEEP = text("""
    WITH dead AS (
        SELECT s.job_id FROM execution_slots s
         WHERE s.lease_expires_at < clock_timestamp()
           AND NOT EXISTS (SELECT FROM broker_message m
                            WHERE m.task_id = s.job_id::text AND m.lease_token = s.lease_token)
         FOR UPDATE SKIP LOCKED)
    DELETE FROM execution_slots s USING dead WHERE s.job_id = dead.job_id
    RETURNING s.user_id, s.service, s.job_id""")

_BY_TIER = text("""
    SELECT s.service, coalesce(u.tier, 'free')::text AS tier, count(*) AS slots
      FROM execution_slots s LEFT JOIN user_subscriptions u ON u.user_id = s.user_id AND u.status = 'active'
     GROUP BY 1, 2""")


class SlotsRow(NamedTuple):
    """Slots that are taken now.  tier: the current one."""

    service: str
    tier: str
    slots: int


class FreedSlotRow(NamedTuple):
    """A slot that is free again."""

    user_id: UUID
    service: str
    job_id: UUID


def acquire(
    tx: Tx, delivery: Delivery, *, user_id: UUID, service: Service, slots: int, now: datetime, lease_seconds: float
) -> None:
    """Take the lowest free slot.

    Locks: the caller has locked the users row, so no two starts of a user count at once; the primary key (user,
    service, slot_no) would refuse the second of them even without it.  The caller has dropped dead slots, and has seen
    that the user has fewer jobs running than `slots`; a slot beyond them is an IntegrityError when this is sent.
    """
    tx.write(
        _ACQUIRE,
        user_id=user_id,
        service=service.value,
        job_id=delivery.job_id,
        lease_token=delivery.lease_token,
        slots=slots,
        now=now,
        lease_seconds=lease_seconds,
    )


def drop_dead(tx: Tx, delivery: Delivery, *, user_id: UUID, service: Service) -> None:
    """Delete the user's dead slots, and the slot under which an earlier delivery of this job ran."""
    tx.write(_DROP_DEAD, job_id=delivery.job_id, user_id=user_id, service=service.value)


def release(tx: Tx, delivery: Delivery) -> None:
    """Free the job's slot, if it has one.  Idempotent.

    The caller has locked the users row and fenced the message, so a slot under another token is a dead worker's.
    """
    tx.write(_RELEASE, job_id=delivery.job_id)


def sweep(tx: Tx) -> list[FreedSlotRow]:
    """Delete slots whose worker is gone.  Returns: those; each user's next job can be woken."""
    return tx.run(_SWEEP).values(FreedSlotRow)


def by_tier(tx: Tx) -> list[SlotsRow]:
    """Slots that are taken now, by service and tier."""
    return tx.run(_BY_TIER).values(SlotsRow)
