"""The messages of jobs: the fence, the wake, and the state of work in flight."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.domain.lifecycle import Delivery
from app.domain.plans import PAID
from app.domain.queues import Service, user_queues
from app.store.accounts.users import ACCOUNT, Account, account_of
from app.store.core.clock import INSTANT
from app.store.core.unit_of_work import Tx

# The carrier is in the message.  The task's argument names the payer, but others may have joined, and the place is the
# best that any asker has a right to (docs/adr/0046).
_DELIVERY = "(:task_id, CAST(:lease_token AS uuid))"
_CARRIER = "coalesce(CAST(m.group_name AS uuid), CAST(:user_id AS uuid))"
_USERS = text(f"""
    SELECT 1 FROM users WHERE id = ANY (ARRAY[CAST(:user_id AS uuid), (
        SELECT CAST(m.group_name AS uuid) FROM broker_delivery{_DELIVERY} m)])
     ORDER BY id FOR NO KEY UPDATE""")
# What only a start must know is not even planned for other steps.
_FENCE = text(f"""
    SELECT m.cancel_requested_at IS NOT NULL AS cancelled, {ACCOUNT},
           (SELECT taken_at FROM execution_slots WHERE job_id = CAST(:job_id AS uuid)) AS taken_at, {INSTANT} AS now,
           {_CARRIER} AS carrier,
           CASE WHEN CAST(:service AS text) IS NULL THEN NULL ELSE (
               SELECT array_agg(EXISTS (SELECT FROM broker_delivery(o.job_id::text, o.lease_token)))
                 FROM execution_slots o
                WHERE o.user_id = {_CARRIER} AND o.service = :service AND o.job_id <> CAST(:job_id AS uuid))
           END AS others,
           CASE CAST(:service AS text)
               WHEN 'analysis' THEN EXISTS (
                   SELECT FROM analyses r WHERE r.id = CAST(:job_id AS uuid) AND r.status <> 'running')
               WHEN 'specview' THEN EXISTS (
                   SELECT FROM spec_documents r WHERE r.id = CAST(:job_id AS uuid) AND r.status <> 'running')
           END AS ended
      FROM broker_fence{_DELIVERY} m
      LEFT JOIN users u ON u.id = {_CARRIER}
      LEFT JOIN user_subscriptions s ON s.user_id = u.id AND s.status = 'active'
      LEFT JOIN subscription_plans p ON p.tier = coalesce(s.tier, 'free')""")
_START = text(f"SELECT broker_start{_DELIVERY}")
# A job has one message.  Should there be one on another queue as well, the job is what a worker holds of it, and all of
# them end with it.
_DELETE = text("SELECT broker_delete(:task_id)")
# in sql/messages.sql
_FIND_EACH = text("SELECT * FROM job_messages(CAST(:task_ids AS text[]), false)")
_LOCK = text("""
    SELECT * FROM job_messages(CAST(:task_ids AS text[]), true) ORDER BY lease_token IS NULL, id LIMIT 1""")
_LOCK_SHARED = text("SELECT 1 FROM broker_message WHERE task_id = :task_id LIMIT 1 FOR KEY SHARE")
_REQUEST_CANCEL = text("SELECT broker_request_cancel(:task_id)")
# in sql/messages.sql
_WAKE = text("""
    INSERT INTO job_events (job_id, event, facts)
    SELECT woken, 'woken', '{}'
      FROM wake_user(CAST(:user_id AS text), CAST(:service AS text), :most, :step) AS woken""")
_PARK = text(f"""
    SELECT broker_park(q.name, m.group_name, :seconds, CASE WHEN q.id = m.queue_id THEN :task_id END),
           q.id = m.queue_id AND EXISTS (
               SELECT FROM broker_waiting s WHERE s.queue_id = m.queue_id AND s.reason = 'snooze'
                  AND s.tenant = m.group_name) AS snoozing
      FROM broker_delivery{_DELIVERY} m, broker_queue q WHERE q.name = :queue""")
# A slot is free, no job of the user is ready to take it, and one waits: a limit was raised, or a wake was lost.
_IDLE = text("""
    INSERT INTO job_events (job_id, event, facts)
    SELECT wake_user(g.name, CAST(:service AS text), 1, :step), 'woken', '{}'
      FROM broker_group g JOIN broker_queue q ON q.id = g.queue_id
     WHERE g.name = CAST(:user_id AS text) AND starts_with(q.name, :service || '_')
       AND :slots > (SELECT count(*) FROM execution_slots s
                      WHERE s.user_id = CAST(:user_id AS uuid) AND s.service = :service)
       AND NOT EXISTS (SELECT FROM broker_ready r WHERE r.queue_id = g.queue_id AND r.tenant = g.name)
     LIMIT 1""")
_MOVE = text("SELECT broker_move(CAST(:user_id AS text), :old, :new)")
# Grouped before the join: a user with 100,000 waiting jobs is one row of it.
_MISPLACED = text("""
    SELECT DISTINCT CAST(g.tenant AS uuid)
      FROM (SELECT queue_id, tenant FROM broker_ready WHERE tenant <> ''
            UNION SELECT queue_id, tenant FROM broker_waiting WHERE tenant <> '') g
      JOIN broker_queue q ON q.id = g.queue_id AND q.name = ANY (CAST(:paid AS text[]) || CAST(:free AS text[]))
      LEFT JOIN user_subscriptions s ON s.user_id = CAST(g.tenant AS uuid) AND s.status = 'active'
     WHERE (q.name = ANY (CAST(:paid AS text[])))
           <> (coalesce(CAST(s.tier AS text), '') = ANY (CAST(:paid_tiers AS text[])))""")


@dataclass(frozen=True, slots=True)
class Fenced:
    """A message that this transaction has fenced.

    cancelled: a cancellation was requested; account: the carrier's, None if there is none; gone: the carrier's account
    was deleted; taken_at: when the job took its slot; now: the instant of this step.
    For a start only: running: other jobs of the carrier and service that hold a slot under a valid lease; left_over:
    whether there are slots of dead workers; ended: whether the record has ended already.
    """

    cancelled: bool
    account: Account | None
    taken_at: datetime | None
    now: datetime
    gone: bool = False
    running: int = 0
    left_over: bool = False
    ended: bool = False


class MessageRow(NamedTuple):
    """The message of an unfinished job.

    delay_reason, ready_at: None if it is ready; lease_token: None if no node has it.
    """

    task_id: str
    queue: str
    paused_at: datetime | None
    user_id: str | None
    ready_at: datetime | None
    delay_reason: str | None
    lease_token: UUID | None
    started_at: datetime | None
    retry_count: int
    snooze_count: int
    lost_count: int
    cancel_requested_at: datetime | None
    enqueued_at: datetime
    id: int
    rank: int | None


def lock_users(tx: Tx, delivery: Delivery, user_id: UUID | None) -> None:
    """Lock carrier and payer of a job, so that neither account nor their counts change.  user_id: the payer.

    Locks: their users rows, in the order of their ids, before the message.  The carrier is read before its row is
    locked.  That is safe, because only a message that no worker has changes its carrier: under this lease it stays, and
    if the lease is lost, the fence finds nothing.
    """
    tx.write(_USERS, task_id=str(delivery.job_id), lease_token=delivery.lease_token, user_id=user_id)


def fence(
    tx: Tx, delivery: Delivery, user_id: UUID | None, *, starts: Service | None = None, now: datetime | None = None
) -> Fenced | None:
    """Lock the message under this lease; None if the lease is lost: this is a zombie, which must write nothing.

    user_id: the payer, None for the schedule; starts: the service, for a start; now: None = by the database.
    Locks: the message row; the caller has locked the users rows.
    """
    job_id, token = delivery.job_id, delivery.lease_token
    of_lease = {"task_id": str(job_id), "lease_token": token, "user_id": user_id}
    service = starts and starts.value
    row = tx.run(_FENCE, job_id=job_id, service=service, now=now, **of_lease).one_or_none()
    if row is None:
        return None
    account = account_of(row) if row.user_id else None
    gone = row.carrier is not None and account is None
    others = row.others or []
    left_over = row.taken_at is not None or not all(others)
    return Fenced(row.cancelled, account, row.taken_at, row.now, gone, sum(others), left_over, bool(row.ended))


def mark_started(tx: Tx, delivery: Delivery) -> None:
    """Count this delivery as lost from now on, if its worker dies.  The caller has fenced the message."""
    tx.write(_START, task_id=str(delivery.job_id), lease_token=delivery.lease_token)


def delete(tx: Tx, job_id: UUID) -> None:
    """End the message, also when a worker has just claimed it.  The caller has locked it."""
    tx.write(_DELETE, task_id=str(job_id))


def find_each(tx: Tx, job_ids: Collection[UUID]) -> dict[UUID, MessageRow]:
    """The messages of unfinished jobs, by job; a job without one is missing."""
    return {UUID(row.task_id): row for row in tx.run(_FIND_EACH, task_ids=[*map(str, job_ids)]).values(MessageRow)}


def lock(tx: Tx, job_id: UUID) -> MessageRow | None:
    """The message of an unfinished job, None if there is none.  Locks: the message row, after the users row."""
    return tx.run(_LOCK, task_ids=[str(job_id)]).value_or_none(MessageRow)


def lock_shared(tx: Tx, job_id: UUID) -> bool:
    """Keep an unfinished job from ending before this transaction does; False if it has ended.

    Locks: the message row's key only, so that claims, wakes and renewals are not blocked.
    """
    return tx.run(_LOCK_SHARED, task_id=str(job_id)).one_or_none() is not None


def request_cancel(tx: Tx, job_id: UUID) -> None:
    """Ask a worker to end the job; a later request for the same commit gets a job of its own.

    A job that waits for a retry is given to a worker now, because only workers end records.  The caller has locked the
    message.
    """
    tx.write(_REQUEST_CANCEL, task_id=str(job_id))


def wake(tx: Tx, user_id: UUID, service: Service, *, most: int = 1, step: int | None = None) -> None:
    """Make the user's oldest waiting jobs ready and write it to their timelines.

    Once none is left, new ones are not parked.

    step: how far each moves the user back in the queue, in ranks; None: as when it was accepted.  Locks: those
    messages.
    """
    tx.write(_WAKE, user_id=user_id, service=service.value, most=most, step=step)


def wake_many(tx: Tx, user_id: UUID, service: Service, *, most: int, step: int) -> int:
    """Wake up to `most` jobs of a user, like `wake`.  Returns: how many."""
    return tx.run(_WAKE, user_id=user_id, service=service.value, most=most, step=step).rowcount


def wake_idle(tx: Tx, user_id: UUID, service: Service, *, slots: int, step: int | None) -> None:
    """Wake one job, if slots are free, a job of the user waits and none is ready."""
    tx.write(_IDLE, user_id=user_id, service=service.value, slots=slots, step=step)


def move(tx: Tx, user_id: UUID, old: str, new: str) -> None:
    """Move a user's waiting jobs to another queue.  The caller has locked the users row.  Locks: those messages."""
    tx.write(_MOVE, user_id=user_id, old=old, new=new)


def on_queues_of_another_tier(tx: Tx) -> list[UUID]:
    """The users of whom a job waits on the queue of a tier that is not theirs.  Reads all messages."""
    paid, free = zip(*map(user_queues, Service), strict=True)
    return list(tx.run(_MISPLACED, paid=[*paid], free=[*free], paid_tiers=[tier.value for tier in PAID]).scalars())


def park(tx: Tx, delivery: Delivery, queue: str, *, seconds: float) -> bool:
    """Park the ready jobs of a job's user on a queue.  Returns: whether another job of the user snoozes there.

    It is False for a job that comes from another queue: its place in that order means nothing here.
    seconds: after which one of them is tried without a wake.  Locks: those messages, skipping those being claimed.
    """
    of_lease = {"task_id": str(delivery.job_id), "lease_token": delivery.lease_token}
    return bool(tx.run(_PARK, **of_lease, queue=queue, seconds=seconds).one().snoozing)
