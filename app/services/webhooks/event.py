"""An event for a webhook, as a value; app/adapters/webhook_body.py writes it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.jobs import Job
from app.services.jobs import describe
from app.services.policy import Policy
from app.store.core.unit_of_work import Tx
from app.store.webhooks.webhook_deliveries import DueRow


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """The end of a job; job: None for a test."""

    type: str
    happened_at: datetime
    webhook_id: UUID
    job: Job | None


#: Writes an event out, as it is signed and sent.
Render = Callable[[WebhookEvent], str]


def event_of(tx: Tx, delivery: DueRow, policy: Policy, *, now: datetime) -> WebhookEvent | None:
    """The event of a delivery; None if its job no longer exists."""
    job = None
    if delivery.job_id is not None:
        job = describe.jobs(tx, [delivery.job_id], policy, asker=None, now=now).get(delivery.job_id)
        if job is None:
            return None
    return WebhookEvent(delivery.type, delivery.happened_at, delivery.webhook_id, job)
