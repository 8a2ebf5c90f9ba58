"""What clients get about webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from app.services.webhooks.log import LoggedDelivery
from app.services.webhooks.webhooks import Webhook
from app.web.core.answers import Shape
from app.web.core.instants import iso


class WebhookShape(Shape):
    """A webhook without its secret.

    disabled_because: owner, gone (it answered 410) or failing (for days); failures: failed attempts in a row;
    old_secret_until: until when the previous secret signs as well.
    """

    id: UUID
    url: str
    description: str
    events: list[str]
    enabled: bool
    created_at: datetime
    disabled_at: datetime | None
    disabled_because: Literal["owner", "gone", "failing"] | None
    failures: int
    failing_since: datetime | None
    old_secret_until: datetime | None


class NewWebhookShape(WebhookShape):
    """secret: shown only once."""

    secret: str


class Webhooks(Shape):
    """Newest first."""

    items: list[WebhookShape]


class SecretShape(Shape):
    """secret: shown only once; old_secret_until: until when the previous one signs as well."""

    secret: str
    old_secret_until: datetime


class DeliveryShape(Shape):
    """What a webhook was told, or is still to be told.

    webhook_id: the header of all attempts; status_code, latency_ms, fault, answer: of the last attempt; fault: null if
    the receiver took the event; answer: its first 1,024 bytes.
    """

    id: int
    webhook_id: str
    job_id: UUID | None
    type: str
    happened_at: datetime
    status: Literal["pending", "delivered", "failed"]
    attempts: int
    attempted_at: datetime | None
    next_attempt_at: datetime | None
    status_code: int | None
    latency_ms: int | None
    fault: str | None
    answer: str | None


class Deliveries(Shape):
    """Newest first; next: the cursor of the next page."""

    items: list[DeliveryShape]
    next: int | None = None


def webhook_json(webhook: Webhook) -> dict[str, Any]:
    """As its owner sees it."""
    return {
        "id": str(webhook.id),
        "url": webhook.url,
        "description": webhook.description,
        "events": list(webhook.events),
        "enabled": webhook.enabled,
        "created_at": iso(webhook.created_at),
        "disabled_at": iso(webhook.disabled_at),
        "disabled_because": webhook.disabled_because,
        "failures": webhook.failures,
        "failing_since": iso(webhook.failing_since),
        "old_secret_until": iso(webhook.old_secret_until),
    }


def delivery_json(delivery: LoggedDelivery) -> dict[str, Any]:
    """A row of the log; what was sent is told by the job."""
    return {
        "id": delivery.id,
        "webhook_id": delivery.message_id,
        "job_id": str(delivery.job_id) if delivery.job_id else None,
        "type": delivery.type,
        "happened_at": iso(delivery.happened_at),
        "status": delivery.status,
        "attempts": delivery.attempts,
        "attempted_at": iso(delivery.attempted_at),
        "next_attempt_at": iso(delivery.next_attempt_at),
        "status_code": delivery.status_code,
        "latency_ms": delivery.latency_ms,
        "fault": delivery.fault,
        "answer": delivery.answer,
    }
