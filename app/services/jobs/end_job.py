"""The last steps of every job, whatever its outcome, in the transaction of the caller, which has fenced the message."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.domain.lifecycle import Delivery, Failure, Outcome
from app.domain.queues import Service
from app.services.fairness import wake_jobs
from app.store.accounts import users
from app.store.core.unit_of_work import Tx
from app.store.jobs import events, messages, quota, records, requests, slots
from app.store.jobs.messages import Fenced
from app.store.specifications import spec_documents


def lock(
    tx: Tx, delivery: Delivery, user_id: UUID | None, *, starts: Service | None = None, now: datetime | None
) -> Fenced | None:
    """Lock the carrier and the payer, then the message, in one round trip; None if the lease is lost.  Locks: them.

    user_id: the payer, None for the schedule; starts: the service, for a start; now: the instant of the step, None = by
    the database.
    """
    messages.lock_users(tx, delivery, user_id)
    return messages.fence(tx, delivery, user_id, starts=starts, now=now)


def leave(tx: Tx, delivery: Delivery, service: Service, fenced: Fenced, *, now: datetime) -> None:
    """Free the slot, and wake the carrier's oldest waiting job at the place that their run times give it."""
    slots.release(tx, delivery)
    if account := fenced.account:
        if fenced.taken_at:
            account = users.ran(tx, account, service, max(0.0, (now - fenced.taken_at).total_seconds()))
        wake_jobs.wake(tx, account, service)


def fail(tx: Tx, delivery: Delivery, service: Service, fenced: Fenced, failure: Failure, *, now: datetime) -> Outcome:
    """End the job as failed: record, reservation, slot and message in one commit, billed to nobody."""
    if not records.fail(tx, service, delivery.job_id, failure, now=now):
        return Outcome.STALE
    clear(tx, delivery.job_id, service)
    quota.release(tx, delivery.job_id)
    messages.delete(tx, delivery.job_id)
    leave(tx, delivery, service, fenced, now=now)
    events.add(tx, delivery.job_id, "failed", code=failure.code, attempt=delivery.attempt)
    return Outcome.FAILED


def cancel(tx: Tx, delivery: Delivery, service: Service, fenced: Fenced, *, now: datetime) -> Outcome:
    """End the job as cancelled; one that never ran has no record, only its requests."""
    records.cancel(tx, service, delivery.job_id, now=now)
    clear(tx, delivery.job_id, service)
    requests.cancelled(tx, delivery.job_id, now=now)
    quota.release(tx, delivery.job_id)
    messages.delete(tx, delivery.job_id)
    leave(tx, delivery, service, fenced, now=now)
    events.add(tx, delivery.job_id, "cancelled", attempt=delivery.attempt)
    return Outcome.CANCELLED


def clear(tx: Tx, job_id: UUID, service: Service) -> None:
    """Delete what earlier attempts stored of a result that no user will see."""
    if service is Service.SPECVIEW:
        spec_documents.drop_drafts(tx, job_id)
