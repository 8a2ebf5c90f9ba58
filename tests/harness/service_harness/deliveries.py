"""What a node of the broker writes on a message, for tests that have no node: in the caller's transaction, as it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Row, TextClause, text

from app.domain.lifecycle import Delivery
from app.store.core.unit_of_work import Tx

# A statement on the view changes nothing of a message that somebody moved while it waited.
_HOLD_ONE = text("SELECT broker_hold(:job_id)")
_LEASE = """
    UPDATE kombu_message SET visible = false, lease_token = gen_random_uuid(), delay_reason = NULL,
           visible_at = clock_timestamp() + :lease, delivery_count = delivery_count + 1
     WHERE {which} RETURNING task_id, user_id, lease_token, retry_count, lost_count"""
_LEASE_ONE = text(_LEASE.format(which="task_id = :job_id"))
_LEASE_NEXT = text(
    _LEASE.format(
        which="""id = (SELECT id FROM kombu_message
                        WHERE visible OR (lease_token IS NULL AND visible_at < clock_timestamp())
                        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)"""
    )
)
_HOLD = text("UPDATE kombu_message SET visible_at = visible_at + interval '1 h' WHERE lease_token IS NOT NULL")
_LOSE = text("""
    UPDATE kombu_message SET visible = true, visible_at = NULL, lease_token = NULL, started_at = NULL,
           lost_count = lost_count + (started_at IS NOT NULL)::int
     WHERE task_id = :job_id""")
_COME_DUE = text("""
    UPDATE kombu_message SET visible = true, visible_at = clock_timestamp(), delay_reason = NULL,
           rank = durable_rank(queue_id, user_id, rank_step)
     WHERE task_id = :job_id""")
_RESCHEDULE = text("""
    UPDATE kombu_message SET lease_token = NULL, started_at = NULL, rank = NULL,
           queue_id = coalesce((SELECT id FROM kombu_queue WHERE name = :queue), queue_id),
           delay_reason = CASE WHEN :parked THEN 'parked' ELSE :reason END,
           visible_at = CASE WHEN NOT :parked THEN clock_timestamp() + :delay END,
           snooze_count = snooze_count + (:reason = 'snooze')::int,
           retry_count = retry_count + (:reason = 'retry')::int
     WHERE task_id = :job_id AND lease_token = :token""")


@dataclass(frozen=True)
class Leased:
    """A delivery, and the user whose job it is; None for nobody's."""

    delivery: Delivery
    user_id: UUID | None


def lease(tx: Tx, job_id: UUID, *, seconds: float = 15) -> Leased:
    """Claim the message of a job."""
    tx.run(_HOLD_ONE, job_id=str(job_id))
    return _leased(tx.run(_LEASE_ONE, job_id=str(job_id), lease=timedelta(seconds=seconds)).one())


def lease_next(tx: Tx, *, seconds: float) -> Leased | None:
    """Claim the oldest message that is ready or due and that nobody else claims now."""
    row = tx.run(_LEASE_NEXT, lease=timedelta(seconds=seconds)).one_or_none()
    return None if row is None else _leased(row)


def hold_leases(tx: Tx) -> None:
    """Let no lease end within the hour."""
    tx.run(_HOLD)


def lose(tx: Tx, job_id: UUID) -> None:
    """Take a message back from a worker that died, as any node does."""
    _one(tx, _LOSE, job_id=str(job_id))


def come_due(tx: Tx, job_id: UUID) -> None:
    """Make a delayed message ready, as the poll does."""
    _one(tx, _COME_DUE, job_id=str(job_id))


def rescheduler(delivery: Delivery, reason: str) -> Callable[..., None]:
    """What FairTask hands to the services: one update of the leased row.  reason: 'snooze' or 'retry'."""

    def reschedule(tx: Tx, delay: timedelta, queue: str | None, parked: bool = False) -> None:
        names = {"job_id": str(delivery.job_id), "token": delivery.lease_token, "queue": queue}
        _one(tx, _RESCHEDULE, reason=reason, delay=delay, parked=parked, **names)

    return reschedule


def _one(tx: Tx, statement: TextClause, *, job_id: str, **parameters: object) -> None:
    tx.run(_HOLD_ONE, job_id=job_id)
    assert tx.run(statement, job_id=job_id, **parameters).rowcount == 1


def _leased(row: Row[tuple[object, ...]]) -> Leased:
    found = row._mapping
    user_id = None if found["user_id"] is None else UUID(found["user_id"])
    return Leased(
        Delivery(UUID(found["task_id"]), found["lease_token"], found["retry_count"], found["lost_count"]), user_id
    )
