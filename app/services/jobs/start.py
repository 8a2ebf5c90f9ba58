"""Start one delivery of a job: fence, read the tier, take a slot, create the record; or snooze (docs/adr/0004).

A start is two round trips: one that locks and reads all that decides, and one of writes and the COMMIT.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from app.domain.fairness import FairnessMode
from app.domain.lifecycle import RETRIES, WORKER_LOST, Delivery, Outcome
from app.domain.queues import Service, select_queue
from app.services.fairness import choose_carrier, wake_jobs
from app.services.jobs import end_job
from app.services.policy import Policy
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx, UnitOfWork, retried
from app.store.fairness import carriers
from app.store.jobs import events, messages, records, slots
from app.store.jobs.messages import Fenced

#: Reschedules the message in place, in the given transaction, on the named queue; None: the one that it came from.
Reschedule = Callable[[Tx, timedelta, str | None], None]
#: Reschedules a job that found no slot; the flag says whether it has no countdown and waits for a wake only.
Snooze = Callable[[Tx, timedelta, str, bool], None]


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
        fenced = end_job.lock(tx, delivery, user_id, starts=service, now=now)
        if fenced is None:
            return Outcome.STALE
        account, now = fenced.account, fenced.now
        if fenced.cancelled or fenced.gone:
            return end_job.cancel(tx, delivery, service, fenced, now=now)
        if fenced.ended:  # the message is a left-over
            messages.delete(tx, delivery.job_id)
            slots.release(tx, delivery)
            return Outcome.STALE
        if delivery.attempt > RETRIES[service].max_attempts:
            # if every attempt died before its start was committed, there is no record yet
            _start_record(tx, delivery, service, policy, now=now)
            return end_job.fail(tx, delivery, service, fenced, WORKER_LOST, now=now)
        if account and not _is_admitted(fenced, account, policy):
            _drop_dead_slots(tx, delivery, service, fenced)
            outcome = _snooze(tx, delivery, service, account, policy, snooze, roll)
            if carriers.is_stray(tx, delivery.job_id, account.user_id):  # a user who left has no jobs
                choose_carrier.settle(tx, delivery.job_id, policy)
            return outcome
        _begin(tx, delivery, service, fenced, policy, now=now)
        return Outcome.STARTED


def _snooze(
    tx: Tx, delivery: Delivery, service: Service, account: Account, policy: Policy, snooze: Snooze, roll: float
) -> Outcome:
    # the user's first waiting job snoozes, with a countdown in case a wake is lost; the others wait behind it without
    # one, or they would all come back every half minute only to snooze again
    net = 2 * policy.fairness.snooze_delay(1)
    # the tier may have changed while a worker had the job, which no move of waiting jobs has seen
    queue = select_queue(service, account.tier)
    parked = messages.park(tx, delivery, queue, seconds=net.total_seconds())
    delay = net if parked else policy.fairness.snooze_delay(roll)
    snooze(tx, delay, queue, parked)
    events.add(tx, delivery.job_id, "snoozed", seconds=round(delay.total_seconds(), 1), tier=account.tier)
    return Outcome.SNOOZED


def _is_admitted(fenced: Fenced, account: Account, policy: Policy) -> bool:
    """Whether the job may run now."""
    return not policy.fairness.holds_back or fenced.running < _limit(account, policy)


def _limit(account: Account, policy: Policy) -> int:
    return policy.fairness.slot_limit(account.plan, account.own_slot_limit)


def _begin(tx: Tx, delivery: Delivery, service: Service, fenced: Fenced, policy: Policy, *, now: datetime) -> None:
    """Write the start without reading, so that all writes travel with the COMMIT.  Locks: the record, then the slot."""
    _start_record(tx, delivery, service, policy, now=now)
    _drop_dead_slots(tx, delivery, service, fenced)
    if fenced.account:
        _take_slot(tx, delivery, service, fenced, fenced.account, policy, now=now)
    messages.mark_started(tx, delivery)
    tx.relax()  # after a crash of the server the message is ready again, and the worker that runs it now is fenced off
    events.add(tx, delivery.job_id, "started", attempt=delivery.attempt)
    if fenced.account:
        _fill(tx, fenced.account, service, policy)


def _take_slot(
    tx: Tx, delivery: Delivery, service: Service, fenced: Fenced, account: Account, policy: Policy, *, now: datetime
) -> None:
    limit = _limit(account, policy)
    if policy.fairness.mode is FairnessMode.OFF:
        return
    if fenced.running >= limit:
        # shadow: record what would have happened, and take a slot beyond the limit so that the count stays right
        events.add(tx, delivery.job_id, "snooze_shadow", limit=limit)
        limit = fenced.running + 1
    slots.acquire(
        tx,
        delivery,
        user_id=account.user_id,
        service=service,
        slots=limit,
        now=now,
        lease_seconds=policy.lease_seconds,
    )


def _drop_dead_slots(tx: Tx, delivery: Delivery, service: Service, fenced: Fenced) -> None:
    if fenced.account and fenced.left_over:
        slots.drop_dead(tx, delivery, user_id=fenced.account.user_id, service=service)


def _start_record(tx: Tx, delivery: Delivery, service: Service, policy: Policy, *, now: datetime) -> None:
    records.start(tx, service, delivery.job_id, maker=policy.maker(service), attempt=delivery.attempt, now=now)


def _fill(tx: Tx, account: Account, service: Service, policy: Policy) -> None:
    """Wake a job if the user has another free slot and no ready job, because a limit was raised.

    If limits hold nothing back, release all jobs that an earlier setting parked.
    """
    if not policy.fairness.holds_back:
        wake_jobs.wake(tx, account, service, most=wake_jobs.RELEASED_AT_ONCE)
        return
    limit = _limit(account, policy)
    if limit > 1:
        messages.wake_idle(tx, account.user_id, service, slots=limit, step=account.step(service))
