"""Begin one delivery of a job: fence, read the tier, take a slot, make the record; or snooze (docs/adr/0004)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from app.domain.fairness import FairnessPolicy, Mode
from app.domain.lifecycle import RETRIES, WORKER_LOST, Delivery, Outcome
from app.domain.queues import Service
from app.services import end
from app.services.policy import Policy
from app.store import analyses, events, messages, slots, users
from app.store.unit_of_work import Tx, UnitOfWork, retried
from app.store.users import Account

#: Re-schedules the message in place, in the given transaction.
Reschedule = Callable[[Tx, timedelta], None]


@retried
def start(
    uow: UnitOfWork,
    delivery: Delivery,
    service: Service,
    user_id: UUID | None,
    policy: Policy,
    *,
    snooze: Reschedule,
    roll: float,
    now: datetime,
) -> Outcome:
    """Take a slot and start the record in one commit, or snooze in one commit.

    user_id None: a system job, which bypasses the limit.  Locks: users row, then the message.
    Returns: STARTED, SNOOZED, STALE, CANCELLED, or FAILED when every attempt was lost.
    """
    with uow.begin() as tx:
        # a finish of this user must not free a slot between our count and our snooze: it would wake nobody
        account = users.lock(tx, user_id) if user_id else None
        message = messages.fence(tx, delivery)
        if message is None:
            return Outcome.STALE
        if message.cancel_requested_at is not None or (user_id and account is None):
            return end.cancel(tx, delivery, service, user_id, now=now)
        if delivery.attempt > RETRIES[service].max_attempts:
            return end.fail(tx, delivery, service, user_id, WORKER_LOST, now=now)
        if account and not _admitted(tx, delivery, service, account, policy, now=now):
            delay = policy.fairness.snooze_delay(roll)
            snooze(tx, delay)
            events.add(tx, delivery.job_id, "snoozed", seconds=round(delay.total_seconds(), 1), tier=account.tier)
            return Outcome.SNOOZED
        return _begin(tx, delivery, policy, now=now)


def _admitted(tx: Tx, delivery: Delivery, service: Service, account: Account, policy: Policy, *, now: datetime) -> bool:
    fairness: FairnessPolicy = policy.fairness
    if fairness.mode is Mode.OFF:
        return True
    limit = fairness.slots(account.plan)
    if _acquire(tx, delivery, service, account, limit, policy, now=now):
        return True
    if fairness.mode is Mode.ENFORCE:
        return False
    # shadow: say what would have happened, and take a slot beyond the limit so that the count stays true
    events.add(tx, delivery.job_id, "snooze_shadow", limit=limit)
    over = slots.count(tx, account.user_id, service) + 1
    return _acquire(tx, delivery, service, account, over, policy, now=now)


def _acquire(
    tx: Tx, delivery: Delivery, service: Service, account: Account, limit: int, policy: Policy, *, now: datetime
) -> bool:
    taken = slots.acquire(
        tx,
        delivery,
        user_id=account.user_id,
        service=service,
        slots=limit,
        now=now,
        lease_seconds=policy.lease_seconds,
    )
    return taken is not None


def _begin(tx: Tx, delivery: Delivery, policy: Policy, *, now: datetime) -> Outcome:
    started = analyses.start(
        tx, delivery.job_id, parser_version=policy.parser_version, attempt=delivery.attempt, now=now
    )
    if not started:  # the record has ended, so this message is a left-over
        messages.delete(tx, delivery.job_id)
        slots.release(tx, delivery)
        return Outcome.STALE
    messages.mark_started(tx, delivery)
    events.add(tx, delivery.job_id, "started", attempt=delivery.attempt)
    return Outcome.STARTED
