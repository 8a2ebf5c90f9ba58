"""The log of a webhook's deliveries; sending a test, and sending a delivery again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.webhooks import LOG_LIVES, MOST_PENDING, TEST
from app.errors import Conflict, Message, NotFound
from app.services.webhooks import signing
from app.services.webhooks.dispatch import message
from app.services.webhooks.webhooks import NOT_THERE
from app.store.core.unit_of_work import AlreadyQueuedError, Tx, UnitOfWork
from app.store.webhooks import webhook_deliveries, webhooks
from app.store.webhooks.webhook_deliveries import LoggedRow
from app.store.webhooks.webhooks import Webhook

#: Of PostgreSQL's bigint.
LARGEST_ID = 2**63 - 1
NO_DELIVERY = Message("This webhook has no such delivery")


@dataclass(frozen=True, slots=True)
class LoggedDelivery:
    """A delivery as the log shows it.

    message_id: the `webhook-id` of its attempts; next_attempt_at: None once it is over; answer: its beginning.

    fault: why the last attempt failed, as a code, None if it was answered; latency_ms: of the last attempt.
    """

    id: int
    message_id: str
    job_id: UUID | None
    type: str
    happened_at: datetime
    status: str
    attempts: int
    attempted_at: datetime | None
    next_attempt_at: datetime | None
    status_code: int | None
    latency_ms: int | None
    fault: str | None
    answer: str | None
    body: str | None


def deliveries(
    uow: UnitOfWork, user_id: UUID, webhook_id: UUID, *, before: int | None, limit: int
) -> tuple[list[LoggedDelivery], int | None]:
    """A page of the log, newest first, and the cursor of the next one.  Raises: NotFound."""
    since = _since(uow)
    with uow.begin() as tx:
        _must_have(tx, user_id, webhook_id)
        rows = webhook_deliveries.log(tx, webhook_id, since=since, before=before, most=limit + 1)
    following = rows[limit - 1].id if len(rows) > limit else None
    return [_logged(row) for row in rows[:limit]], following


def send_test(uow: UnitOfWork, user_id: UUID, webhook_id: UUID) -> LoggedDelivery:
    """Send a test event now, or after the rest of a webhook that fails.  It has one attempt.

    Raises: NotFound, Conflict while the webhook is disabled, a test is pending, or too much is.  Locks: its row.
    """
    since = _since(uow)
    with uow.begin() as tx:
        _must_take_more(tx, user_id, webhook_id, is_test=True)
        delivery_id = webhook_deliveries.add_test(tx, webhook_id, TEST)
        return _send(tx, webhook_id, delivery_id, since=since)


def replay(uow: UnitOfWork, user_id: UUID, webhook_id: UUID, delivery_id: int) -> LoggedDelivery:
    """Send a delivery again, with the same id; at once, or after the rest of a webhook that fails.

    Raises: NotFound, Conflict while the webhook is disabled, or too much is pending.  Locks: the row of the webhook.
    """
    since = _since(uow)
    with uow.begin() as tx:
        found = _must_have_delivery(tx, user_id, webhook_id, delivery_id, since=since)
        _must_take_more(tx, user_id, webhook_id, is_test=found.type == TEST, itself=found.due_at is not None)
        webhook_deliveries.replay(tx, webhook_id, delivery_id, since=since)
        return _send(tx, webhook_id, delivery_id, since=since)


def _since(uow: UnitOfWork) -> datetime:
    """From when on events are shown: older ones are gone with their month."""
    return uow.now() - LOG_LIVES


def _send(tx: Tx, webhook_id: UUID, delivery_id: int, *, since: datetime) -> LoggedDelivery:
    """Do not wait for the next beat."""
    with suppress(AlreadyQueuedError), tx.savepoint():
        tx.publish(message(webhook_id))
    row = webhook_deliveries.find(tx, webhook_id, delivery_id, since=since)
    if row is None:
        raise NotFound(NO_DELIVERY)
    return _logged(row)


def _must_take_more(tx: Tx, user_id: UUID, webhook_id: UUID, *, is_test: bool, itself: bool = False) -> None:
    """Check that a webhook accepts another delivery.  Locks: webhooks row.  Raises: NotFound, Conflict.

    itself: the delivery in question is pending already, so sending it adds nothing.
    """
    webhooks.lock(tx, user_id, webhook_id)  # two requests cannot both be the last that the limits allow
    if _must_have(tx, user_id, webhook_id).disabled_at is not None:
        raise Conflict("This webhook is disabled; enable it first")
    if itself:
        return
    pending, tests = webhook_deliveries.pending(tx, webhook_id, TEST)
    if is_test and tests:
        raise Conflict("A test event is already pending; the log shows when it is sent")
    if pending >= MOST_PENDING:
        raise Conflict(
            Message("%(most)s deliveries are pending; no more can be sent before they have ended", most=MOST_PENDING)
        )


def _must_have_delivery(tx: Tx, user_id: UUID, webhook_id: UUID, delivery_id: int, *, since: datetime) -> LoggedRow:
    _must_have(tx, user_id, webhook_id)
    row = webhook_deliveries.find(tx, webhook_id, delivery_id, since=since) if delivery_id <= LARGEST_ID else None
    if row is None:
        raise NotFound(NO_DELIVERY)
    return row


def _must_have(tx: Tx, user_id: UUID, webhook_id: UUID) -> Webhook:
    row = webhooks.find(tx, user_id, webhook_id)
    if row is None:
        raise NotFound(NOT_THERE)
    return row


def _logged(row: LoggedRow) -> LoggedDelivery:
    return LoggedDelivery(
        id=row.id,
        message_id=signing.message_name(row.message_id),
        job_id=row.job_id,
        type=row.type,
        happened_at=row.happened_at,
        status=row.status,
        attempts=row.attempts,
        attempted_at=row.attempted_at,
        next_attempt_at=row.due_at,
        status_code=row.status_code,
        latency_ms=row.latency_ms,
        fault=row.fault,
        answer=row.answer,
        body=row.body,
    )
