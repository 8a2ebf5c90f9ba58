"""The messages of jobs: the fence, the wake, and the state of work in flight."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.domain.lifecycle import Delivery
from app.domain.queues import Service
from app.store.clock import INSTANT
from app.store.unit_of_work import Tx
from app.store.users import ACCOUNT, Account, account_of

#: Where the broker's nodes listen; a contract test holds it to celery_durable's.
CHANNEL = "kombu_message"

# The carrier is the message's, not the task's argument, which says who pays: others may have joined, and a place is the
# best that any of them has a right to (docs/adr/0046).
_CARRIER = "coalesce(CAST(m.user_id AS uuid), CAST(:user_id AS uuid))"
_USERS = text("""
    SELECT 1 FROM users WHERE id = ANY (ARRAY[CAST(:user_id AS uuid), (
        SELECT CAST(m.user_id AS uuid) FROM kombu_message m
         WHERE m.task_id = :task_id AND m.lease_token = :lease_token)])
     ORDER BY id FOR UPDATE""")
_FENCE = text(f"""
    SELECT m.cancel_requested_at IS NOT NULL AS cancelled, {ACCOUNT},
           (SELECT taken_at FROM execution_slots WHERE job_id = CAST(:job_id AS uuid)) AS taken_at, {INSTANT} AS now,
           {_CARRIER} AS carrier
      FROM kombu_message m
      LEFT JOIN users u ON u.id = {_CARRIER}
      LEFT JOIN user_subscriptions s ON s.user_id = u.id AND s.status = 'active'
      LEFT JOIN subscription_plans p ON p.tier = coalesce(s.tier, 'free')
     WHERE m.task_id = :task_id AND m.lease_token = :lease_token FOR UPDATE OF m""")
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
# Both functions are in migration 0011 and the broker's.
_WAKE = text("""
    INSERT INTO job_events (job_id, event, facts)
    SELECT woken, 'woken', '{}'
      FROM wake_user(CAST(:user_id AS text), CAST(:service AS text), :most, :step) AS woken""")
_PARK = text("""
    SELECT kombu_message_park(q.name, m.user_id, :seconds, m.task_id),
           EXISTS (SELECT FROM kombu_message s WHERE s.queue_id = m.queue_id AND s.delay_reason = 'snooze'
                      AND coalesce(s.user_id, '') = m.user_id) AS snoozing
      FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id WHERE m.task_id = :task_id""")
# A slot is free, nothing of the user's is ready to take it, and something waits: a limit was raised, or a wake lost.
_IDLE = text("""
    INSERT INTO job_events (job_id, event, facts)
    SELECT wake_user(g.name, CAST(:service AS text), 1, :step), 'woken', '{}'
      FROM kombu_group g JOIN kombu_queue q ON q.id = g.queue_id
     WHERE g.name = CAST(:user_id AS text) AND starts_with(q.name, :service || '_')
       AND :slots > (SELECT count(*) FROM execution_slots s
                      WHERE s.user_id = CAST(:user_id AS uuid) AND s.service = :service)
       AND NOT EXISTS (SELECT FROM kombu_message m
                        WHERE m.queue_id = g.queue_id AND coalesce(m.user_id, '') = g.name AND m.visible
                          AND m.rank IS NOT NULL)
     LIMIT 1""")
# What is ready stands behind what of the user is there already; what is leased goes on where it is.
_MOVE = (
    text("""
        WITH gone AS (
            DELETE FROM kombu_group g USING kombu_queue q
             WHERE q.id = g.queue_id AND q.name = :old AND g.name = CAST(:user_id AS text) RETURNING g.*)
        INSERT INTO kombu_group (queue_id, name, probe_at, probe_seconds)
        SELECT q.id, gone.name, gone.probe_at, gone.probe_seconds FROM gone, kombu_queue q WHERE q.name = :new
        ON CONFLICT DO NOTHING"""),
    text("""
        WITH mine AS MATERIALIZED (
            SELECT m.id, m.rank, m.rank_step FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id
             WHERE q.name = :old AND coalesce(m.user_id, '') = CAST(:user_id AS text) AND m.lease_token IS NULL
               AND ((m.visible AND m.rank IS NOT NULL) OR m.delay_reason IS NOT NULL)
               FOR NO KEY UPDATE OF m SKIP LOCKED),
        placed AS (SELECT id, sum(rank_step) OVER (ORDER BY rank, id) - rank_step AS ahead FROM mine),
        target AS MATERIALIZED (
            SELECT id, kombu_message_rank(id, CAST(:user_id AS text), 100) AS rank FROM kombu_queue WHERE name = :new)
        UPDATE kombu_message m
           SET queue_id = target.id, rank = CASE WHEN m.visible THEN target.rank + placed.ahead END
          FROM placed, target WHERE m.id = placed.id"""),
    text("SELECT pg_notify(:channel, :new)"),
)


@dataclass(frozen=True, slots=True)
class Held:
    """A message that we hold.

    cancelled: somebody asked for its end; account: its carrier's, None when there is none; gone: there was one, whose
    account is deleted; taken_at: when the job took the slot it has; now: the instant of this step.
    """

    cancelled: bool
    account: Account | None
    taken_at: datetime | None
    now: datetime
    gone: bool = False


def hold_users(tx: Tx, delivery: Delivery, user_id: UUID | None) -> None:
    """Hold carrier and payer of a job, so that neither account changes, nor a count of theirs.  user_id: who pays.

    Locks: their users rows, in the order of their ids, before the message.  The carrier is read before its row is held,
    which is sound: only a message that no worker holds changes its carrier, so under this very lease it stays; and if
    the lease is lost, the fence finds nothing.
    """
    tx.write(_USERS, task_id=str(delivery.job_id), lease_token=delivery.lease_token, user_id=user_id)


def fence(tx: Tx, delivery: Delivery, user_id: UUID | None, *, now: datetime | None = None) -> Held | None:
    """Hold the message under this very lease, or learn that the lease is lost: None = zombie, write nothing.

    user_id: who pays, None for the schedule; now: None = by the database.
    Locks: the message row; the caller holds the users rows.
    """
    job_id, token = delivery.job_id, delivery.lease_token
    of_lease = {"task_id": str(job_id), "lease_token": token, "user_id": user_id}
    row = tx.run(_FENCE, job_id=job_id, now=now, **of_lease).one_or_none()
    if row is None:
        return None
    account = account_of(row) if row.user_id else None
    gone = row.carrier is not None and account is None
    return Held(row.cancelled, account, row.taken_at, row.now, gone)


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


def wake(tx: Tx, user_id: UUID, service: Service, *, most: int = 1, step: int | None = None) -> None:
    """Make the user's oldest waiting jobs ready at once, as their timelines tell; with none left, none is held back.

    step: what each of them takes of the user's share, in ranks; None: as when it was accepted.  Locks: those messages.
    """
    tx.write(_WAKE, user_id=user_id, service=service.value, most=most, step=step)


def wake_many(tx: Tx, user_id: UUID, service: Service, *, most: int, step: int) -> int:
    """As wake; how many there were."""
    return tx.run(_WAKE, user_id=user_id, service=service.value, most=most, step=step).rowcount


def wake_idle(tx: Tx, user_id: UUID, service: Service, *, slots: int, step: int | None) -> None:
    """As wake of one, if fewer slots are taken, something of the user waits and nothing of it is ready."""
    tx.write(_IDLE, user_id=user_id, service=service.value, slots=slots, step=step)


def move(tx: Tx, user_id: UUID, old: str, new: str) -> None:
    """Put what waits of a user on another queue.  The caller holds the users row.  Locks: those messages."""
    for statement in _MOVE:
        tx.write(statement, user_id=user_id, old=old, new=new, channel=CHANNEL)


def park(tx: Tx, delivery: Delivery, *, seconds: float) -> bool:
    """Keep from the workers what is ready of a job's user; whether another one of the user's snoozes.

    seconds: then one of them is tried in any case.  Locks: those messages, skipping what is being claimed.
    """
    return bool(tx.run(_PARK, task_id=str(delivery.job_id), seconds=seconds).one().snoozing)


def _notify(tx: Tx, queue_id: int) -> None:
    tx.write(_NOTIFY, channel=CHANNEL, queue_id=queue_id)
