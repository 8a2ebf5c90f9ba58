"""Enqueue one delivery task per webhook with due deliveries, on a queue without user jobs."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID, uuid4

from app.domain.queues import Service, select_queue
from app.store.core.unit_of_work import AlreadyQueuedError, JobMessage, UnitOfWork
from app.store.webhooks import webhook_deliveries

TASK = "tasks.webhooks.deliver"
#: No scheduled specifications exist, so a slow receiver delays nothing but other webhooks (docs/adr/0054).
QUEUE = select_queue(Service.SPECVIEW, None, scheduled=True)
#: Turns that one run gives; the next run follows within seconds.
MOST_TURNS = 200


def message(webhook_id: UUID) -> JobMessage:
    """A turn of a webhook.  It has no user: it takes no slot, reserves nothing, and parks nobody's jobs."""
    return JobMessage(uuid4(), TASK, QUEUE, {"webhook_id": str(webhook_id)}, unique_key=f"webhook {webhook_id}")


def dispatch(uow: UnitOfWork) -> int:
    """Give a turn to each webhook with a delivery that is due.  Returns: how many; at most one turn waits for each."""
    with uow.once() as tx:
        due = webhook_deliveries.due(tx, MOST_TURNS)
    for webhook_id in due:
        with suppress(AlreadyQueuedError), uow.begin() as tx:
            tx.publish(message(webhook_id))
    return len(due)
