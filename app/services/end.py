"""The last steps every job takes, whatever it ended in: inside the caller's transaction, who holds the fence."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.domain import fairness
from app.domain.lifecycle import Delivery, Failure, Outcome
from app.domain.queues import Service
from app.store import analyses, events, messages, quota, requests, slots, users
from app.store.unit_of_work import Tx


def met(tx: Tx, delivery: Delivery, service: Service, user_id: UUID | None, *, now: datetime) -> Outcome | None:
    """Hold the user and the message, and say what the delivery has met meanwhile: STALE, CANCELLED, or None to go on.

    Locks: users row, then the message.
    """
    if user_id:
        users.hold(tx, user_id)
    message = messages.fence(tx, delivery)
    if message is None:
        return Outcome.STALE
    if message.cancel_requested_at is not None:
        return cancel(tx, delivery, service, user_id, now=now)
    return None


def leave(tx: Tx, delivery: Delivery, service: Service, user_id: UUID | None, *, now: datetime) -> None:
    """Free the slot, and wake the user's oldest waiting job to the place that is theirs by what their jobs took."""
    slots.release(tx, delivery, now=now)
    if user_id:
        wake(tx, user_id, service)


def wake(tx: Tx, user_id: UUID, service: Service, *, most: int = 1) -> None:
    """Make the user's oldest waiting jobs ready; with none left, nothing more is held back.  Locks: those messages."""
    account = users.find(tx, user_id)
    step = fairness.step(account.tier, account.run_seconds) if account else None
    for woken in messages.wake(tx, user_id, service, most=most, step=step):
        events.add(tx, woken, "woken")


def fail(
    tx: Tx, delivery: Delivery, service: Service, user_id: UUID | None, failure: Failure, *, now: datetime
) -> Outcome:
    """End the job as failed: record, reservation, slot and message in one commit, billed to nobody."""
    if not analyses.fail(tx, delivery.job_id, failure, now=now):
        return Outcome.STALE
    quota.release(tx, delivery.job_id)
    messages.delete(tx, delivery.job_id)
    leave(tx, delivery, service, user_id, now=now)
    events.add(tx, delivery.job_id, "failed", code=failure.code, attempt=delivery.attempt)
    return Outcome.FAILED


def cancel(tx: Tx, delivery: Delivery, service: Service, user_id: UUID | None, *, now: datetime) -> Outcome:
    """End the job as cancelled; one that never ran has no record, only its requests."""
    analyses.cancel(tx, delivery.job_id, now=now)
    requests.cancelled(tx, delivery.job_id, now=now)
    quota.release(tx, delivery.job_id)
    messages.delete(tx, delivery.job_id)
    leave(tx, delivery, service, user_id, now=now)
    events.add(tx, delivery.job_id, "cancelled", attempt=delivery.attempt)
    return Outcome.CANCELLED
