"""End a failed attempt: schedule the next one in place, or end the job as failed."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.domain.lifecycle import RETRIES, Delivery, Failure, Outcome
from app.domain.queues import Service, select_queue
from app.services.jobs import end_job
from app.services.jobs.start import Reschedule
from app.store.core.unit_of_work import UnitOfWork, retried
from app.store.jobs import events


@retried
def fail(
    uow: UnitOfWork,
    delivery: Delivery,
    service: Service,
    user_id: UUID | None,
    failure: Failure,
    *,
    retry: Reschedule,
    roll: float,
    now: datetime | None = None,
) -> Outcome:
    """Spend the attempt: back off if attempts are left and the failure is temporary; the reservation stays.

    Locks: the users rows of carrier and payer, then the message.  Returns: RETRY, FAILED, CANCELLED or STALE.
    """
    policy = RETRIES[service]
    with uow.begin() as tx:
        fenced = end_job.lock(tx, delivery, user_id, now=now)
        if fenced is None:
            return Outcome.STALE
        now = fenced.now
        if fenced.cancelled:
            return end_job.cancel(tx, delivery, service, fenced, now=now)
        if not failure.retryable or delivery.attempt >= policy.max_attempts:
            return end_job.fail(tx, delivery, service, fenced, failure, now=now)
        delay = policy.backoff(delivery.attempt, roll)
        # the tier may have changed while the attempt ran
        retry(tx, delay, select_queue(service, fenced.account.tier) if fenced.account else None)
        end_job.leave(tx, delivery, service, fenced, now=now)
        seconds = round(delay.total_seconds(), 2)
        events.add(tx, delivery.job_id, "retrying", code=failure.code, attempt=delivery.attempt, seconds=seconds)
        return Outcome.RETRY


@retried
def stop(
    uow: UnitOfWork, delivery: Delivery, service: Service, user_id: UUID | None, *, now: datetime | None = None
) -> Outcome:
    """End a running job whose cancellation was requested.  Returns: CANCELLED or STALE."""
    with uow.begin() as tx:
        fenced = end_job.lock(tx, delivery, user_id, now=now)
        if fenced is None:
            return Outcome.STALE
        return end_job.cancel(tx, delivery, service, fenced, now=fenced.now)
