"""The messages of jobs: the fence, the wake, and the state of work in flight."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.domain.lifecycle import Delivery
from app.domain.queues import Service
from app.store.unit_of_work import Tx

#: Where the broker's nodes listen; a contract test holds it to tasks.broker's.
CHANNEL = "kombu_message"

_FENCE = text("""
    SELECT cancel_requested_at FROM kombu_message
     WHERE task_id = :task_id AND lease_token = :lease_token FOR UPDATE""")
_START = text("UPDATE kombu_message SET started_at = clock_timestamp() WHERE task_id = :task_id")
_PEEK = text("""
    SELECT cancel_requested_at IS NOT NULL AS cancelled FROM kombu_message
     WHERE task_id = :task_id AND lease_token = :lease_token""")
_DELETE = text("DELETE FROM kombu_message WHERE task_id = :task_id")
_COLUMNS = """
    m.task_id, q.name AS queue, q.paused_at, m.user_id, m.visible, m.visible_at, m.delay_reason, m.lease_token,
    m.started_at, m.retry_count, m.snooze_count, m.lost_count, m.cancel_requested_at, m.enqueued_at, m.id, m.rank
"""
_FIND = text(f"SELECT {_COLUMNS} FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id WHERE task_id = :task_id")
_LOCK = text(f"""
    SELECT {_COLUMNS} FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id
     WHERE task_id = :task_id FOR UPDATE OF m""")
_HOLD = text("SELECT 1 FROM kombu_message WHERE task_id = :task_id FOR KEY SHARE")
_REQUEST_CANCEL = text("""
    UPDATE kombu_message SET cancel_requested_at = clock_timestamp(),
           -- whoever asks for the commit from now on gets a job of their own, not one that is about to end
           unique_key = NULL,
           -- one that waits for a retry is given to a worker now, as only workers end records
           visible = visible OR lease_token IS NULL,
           visible_at = CASE WHEN lease_token IS NULL THEN clock_timestamp() ELSE visible_at END,
           rank = CASE WHEN lease_token IS NULL AND NOT visible
                       THEN kombu_message_rank(queue_id, user_id, rank_step) ELSE rank END,
           delay_reason = NULL
     WHERE task_id = :task_id RETURNING queue_id""")
_NOTIFY = text("SELECT pg_notify(:channel, name) FROM kombu_queue WHERE id = :queue_id")
# Oldest first inside one user; SKIP LOCKED, since a row that is being claimed or woken needs no second wake.  The lock
# is the one the UPDATE takes: a stronger one would skip what a joiner holds, and wake nobody.
_WAKE = text("""
    WITH next AS (
        SELECT m.id FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id
         WHERE m.user_id = :user_id AND m.delay_reason = 'snooze' AND m.lease_token IS NULL
           AND starts_with(q.name, :service)
         ORDER BY m.id LIMIT :most FOR NO KEY UPDATE OF m SKIP LOCKED)
    UPDATE kombu_message m SET visible = true, visible_at = clock_timestamp(), delay_reason = NULL,
           rank = kombu_message_rank(m.queue_id, m.user_id, m.rank_step)
      FROM next WHERE m.id = next.id RETURNING m.task_id, m.queue_id""")


def fence(tx: Tx, delivery: Delivery) -> Row[Any] | None:
    """Hold the message under this very lease, or learn that the lease is lost: None = zombie, write nothing.

    Locks: the message row, after the users row.  row: cancel_requested_at.
    """
    return tx.run(_FENCE, task_id=str(delivery.job_id), lease_token=delivery.lease_token).one_or_none()


def mark_started(tx: Tx, delivery: Delivery) -> None:
    """From now on this delivery counts as lost when its worker dies.  The caller holds the fence."""
    tx.write(_START, task_id=str(delivery.job_id))


def peek(tx: Tx, delivery: Delivery) -> Row[Any] | None:
    """The fence without its lock.  row: cancelled; None = the lease is lost."""
    return tx.run(_PEEK, task_id=str(delivery.job_id), lease_token=delivery.lease_token).one_or_none()


def delete(tx: Tx, job_id: UUID) -> None:
    """End the message.  The caller holds it."""
    tx.write(_DELETE, task_id=str(job_id))


def find(tx: Tx, job_id: UUID) -> Row[Any] | None:
    """The message of an unfinished job, None when there is none."""
    return tx.run(_FIND, task_id=str(job_id)).one_or_none()


def lock(tx: Tx, job_id: UUID) -> Row[Any] | None:
    """As find, and hold it.  Locks: the message row, after the users row."""
    return tx.run(_LOCK, task_id=str(job_id)).one_or_none()


def hold(tx: Tx, job_id: UUID) -> bool:
    """Keep an unfinished job from ending before this transaction does; False when it has ended.

    Locks: the message row for its key only, so that claims, wakes and renewals pass.
    """
    return tx.run(_HOLD, task_id=str(job_id)).one_or_none() is not None


def request_cancel(tx: Tx, job_id: UUID) -> None:
    """Ask the worker to end the job.  The caller holds the message."""
    if (queue_id := tx.run(_REQUEST_CANCEL, task_id=str(job_id)).scalar_one_or_none()) is not None:
        _notify(tx, queue_id)


def wake(tx: Tx, user_id: UUID, service: Service, *, most: int = 1) -> list[UUID]:
    """Make the user's oldest snoozed jobs ready at once; returns their ids."""
    woken = tx.run(_WAKE, user_id=str(user_id), service=f"{service}_", most=most).all()
    for queue_id in {row.queue_id for row in woken}:
        _notify(tx, queue_id)
    return [UUID(row.task_id) for row in woken]


def wake_all_services(tx: Tx, user_id: UUID, *, most: int) -> list[UUID]:
    """As wake, for each service: after a change of what the user may run."""
    return [job_id for service in Service for job_id in wake(tx, user_id, service, most=most)]


def _notify(tx: Tx, queue_id: int) -> None:
    tx.write(_NOTIFY, channel=CHANNEL, queue_id=queue_id)
