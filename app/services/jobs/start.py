"""Start one delivery of a job: fence, read the tier, take a slot, create the record; or snooze (docs/adr/0004)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from app.domain.fairness import FairnessPolicy, Mode
from app.domain.lifecycle import RETRIES, WORKER_LOST, Delivery, Outcome
from app.domain.queues import Service
from app.services.fairness import choose_carrier, wake_jobs
from app.services.jobs import end_job
from app.services.policy import Policy
from app.store import carriers, events, messages, records, slots
from app.store.messages import Fenced
from app.store.unit_of_work import Tx, UnitOfWork, retried
from app.store.users import Account

#: Reschedules the message in place, in the given transaction.
Reschedule = Callable[[Tx, timedelta], None]
#: As Reschedule; the flag says whether it has no countdown and waits for a wake only.
Snooze = Callable[[Tx, timedelta, bool], None]


@retried
def start(
    uow: UnitOfWork,
    delivery: Delivery,
    service: Service,
    user_id: UUID | None,
    policy: Policy,
    *,
    snooze: Snooze,
    roll: float,
    now: datetime | None = None,
) -> Outcome:
    """Take a slot and start the record in one commit, or snooze in one commit.

    user_id: the payer, None for the schedule; a job without a carrier bypasses the limit; now: None = by the database.
    Locks: the users rows of carrier and payer, then the message.
    Returns: STARTED, SNOOZED, STALE, CANCELLED, or FAILED if every attempt was lost.
    """
    with uow.begin() as tx:
        # a finish of this user must not free a slot between our count and our snooze, because it would find no job to
        # wake
        fenced = end_job.lock(tx, delivery, user_id, now=now)
        if fenced is None:
            return Outcome.STALE
        account, now = fenced.account, fenced.now
        if fenced.cancelled or fenced.gone:
            return end_job.cancel(tx, delivery, service, fenced, now=now)
        if delivery.attempt > RETRIES[service].max_attempts:
            return _give_up(tx, delivery, service, fenced, policy, now=now)
        if account and not _admitted(tx, delivery, service, account, policy, now=now):
            outcome = _snooze(tx, delivery, account, policy, snooze, roll)
            if carriers.is_stray(tx, delivery.job_id, account.user_id):  # a user who left has no jobs
                choose_carrier.settle(tx, delivery.job_id, policy)
            return outcome
        return _begin(tx, delivery, service, account, policy, now=now)


def _snooze(tx: Tx, delivery: Delivery, account: Account, policy: Policy, snooze: Snooze, roll: float) -> Outcome:
    # the user's first waiting job snoozes, with a countdown in case a wake is lost; the others wait behind it without
    # one, or they would all come back every half minute only to snooze again
    net = 2 * policy.fairness.snooze_delay(1)
    parked = messages.park(tx, delivery, seconds=net.total_seconds())
    delay = net if parked else policy.fairness.snooze_delay(roll)
    snooze(tx, delay, parked)
    events.add(tx, delivery.job_id, "snoozed", seconds=round(delay.total_seconds(), 1), tier=account.tier)
    return Outcome.SNOOZED


def _admitted(tx: Tx, delivery: Delivery, service: Service, account: Account, policy: Policy, *, now: datetime) -> bool:
    fairness: FairnessPolicy = policy.fairness
    if fairness.mode is Mode.OFF:
        return True
    limit = fairness.slot_limit(account.plan, account.own_slot_limit)
    if _acquire(tx, delivery, service, account, limit, policy, now=now):
        return True
    if fairness.mode is Mode.ENFORCE:
        return False
    # shadow: record what would have happened, and take a slot beyond the limit so that the count stays right
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


def _begin(
    tx: Tx, delivery: Delivery, service: Service, account: Account | None, policy: Policy, *, now: datetime
) -> Outcome:
    if not _take_record(tx, delivery, service, policy, now=now):
        return Outcome.STALE
    messages.mark_started(tx, delivery)
    tx.relax()  # after a crash of the server the message is ready again, and the worker that runs it now is fenced off
    events.add(tx, delivery.job_id, "started", attempt=delivery.attempt)
    if account:
        _fill(tx, account, service, policy)
    return Outcome.STARTED


def _give_up(tx: Tx, delivery: Delivery, service: Service, fenced: Fenced, policy: Policy, *, now: datetime) -> Outcome:
    # if every attempt died before its start was committed, there is no record yet
    if not _take_record(tx, delivery, service, policy, now=now):
        return Outcome.STALE
    return end_job.fail(tx, delivery, service, fenced, WORKER_LOST, now=now)


def _take_record(tx: Tx, delivery: Delivery, service: Service, policy: Policy, *, now: datetime) -> bool:
    """Create or continue the record; False if it has ended, so that the message was a left-over and is deleted."""
    if records.start(tx, service, delivery.job_id, maker=policy.maker(service), attempt=delivery.attempt, now=now):
        return True
    messages.delete(tx, delivery.job_id)
    slots.release(tx, delivery)
    return False


def _fill(tx: Tx, account: Account, service: Service, policy: Policy) -> None:
    """If the user has another free slot and no ready job, wake one, because a limit was raised.

    If limits hold nothing back, release all jobs that an earlier setting parked.
    """
    if not policy.fairness.holds_back:
        wake_jobs.release(tx, account, service)
        return
    limit = policy.fairness.slot_limit(account.plan, account.own_slot_limit)
    if limit > 1:
        messages.wake_idle(tx, account.user_id, service, slots=limit, step=account.step(service))
