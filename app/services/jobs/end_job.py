"""The last steps every job takes, whatever it ended in: inside the caller's transaction, who holds the fence."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.domain.lifecycle import Delivery, Failure, Outcome
from app.domain.queues import Service
from app.services.fairness import wake_jobs
from app.store import events, messages, quota, records, requests, slots, spec_documents, users
from app.store.messages import Held
from app.store.unit_of_work import Tx


def hold(tx: Tx, delivery: Delivery, user_id: UUID | None, *, now: datetime | None) -> Held | None:
    """Hold the carrier and the payer, then the message, in one round trip; None when the lease is lost.  Locks: them.

    user_id: who pays, None for the schedule; now: the instant of the step, None = by the database.
    """
    messages.hold_users(tx, delivery, user_id)
    return messages.fence(tx, delivery, user_id, now=now)


def leave(tx: Tx, delivery: Delivery, service: Service, held: Held, *, now: datetime) -> None:
    """Free the slot, and wake the carrier's oldest waiting job to the place that is theirs by what their jobs took."""
    slots.release(tx, delivery)
    if account := held.account:
        if held.taken_at:
            account = users.ran(tx, account, service, max(0.0, (now - held.taken_at).total_seconds()))
        wake_jobs.wake(tx, account, service)


def fail(tx: Tx, delivery: Delivery, service: Service, held: Held, failure: Failure, *, now: datetime) -> Outcome:
    """End the job as failed: record, reservation, slot and message in one commit, billed to nobody."""
    if not records.fail(tx, service, delivery.job_id, failure, now=now):
        return Outcome.STALE
    clear(tx, delivery.job_id, service)
    quota.release(tx, delivery.job_id)
    messages.delete(tx, delivery.job_id)
    leave(tx, delivery, service, held, now=now)
    events.add(tx, delivery.job_id, "failed", code=failure.code, attempt=delivery.attempt)
    return Outcome.FAILED


def cancel(tx: Tx, delivery: Delivery, service: Service, held: Held, *, now: datetime) -> Outcome:
    """End the job as cancelled; one that never ran has no record, only its requests."""
    records.cancel(tx, service, delivery.job_id, now=now)
    clear(tx, delivery.job_id, service)
    requests.cancelled(tx, delivery.job_id, now=now)
    quota.release(tx, delivery.job_id)
    messages.delete(tx, delivery.job_id)
    leave(tx, delivery, service, held, now=now)
    events.add(tx, delivery.job_id, "cancelled", attempt=delivery.attempt)
    return Outcome.CANCELLED


def clear(tx: Tx, job_id: UUID, service: Service) -> None:
    """Delete what attempts have stored of a result that nobody will see."""
    if service is Service.SPECVIEW:
        spec_documents.drop_drafts(tx, job_id)
