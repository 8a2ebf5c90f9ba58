"""Answers about webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import AliasChoices, Field

from app.web.core.shapes import Shape


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


class MadeWebhookShape(WebhookShape):
    """A new webhook.  secret: shown only once."""

    secret: str


class WebhooksShape(Shape):
    """The account's webhooks, newest first."""

    items: list[WebhookShape]


class SecretShape(Shape):
    """A new secret.  secret: shown only once; old_secret_until: until when the previous one signs as well."""

    secret: str
    old_secret_until: datetime


class DeliveryShape(Shape):
    """A delivery of an event to a webhook, sent or pending.

    webhook_id: the header of all attempts; status_code, latency_ms, fault, answer: of the last attempt; fault: null if
    the receiver took the event; answer: its first 1,024 bytes.
    """

    id: int
    webhook_id: str = Field(validation_alias=AliasChoices("message_id", "webhook_id"))
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


class DeliveriesShape(Shape):
    """Newest first; next: the cursor of the next page."""

    items: list[DeliveryShape]
    next: int | None = None
