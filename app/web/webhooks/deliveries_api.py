"""Deliveries of a webhook: its log, a test, and sending one again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.services.webhooks import log
from app.services.webhooks.log import LoggedDelivery
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import wired
from app.web.core.schemas import PageQuery
from app.web.webhooks.api import ONE
from app.web.webhooks.shapes import DeliveriesShape, DeliveryShape

DISABLED = {409: "The webhook is disabled, a test is pending, or 100 deliveries are"}


@api.post(f"{ONE}/test")
@api.output(DeliveryShape, 202)
@api.doc(operation_id="testWebhook", tags=["Webhooks"], responses=DISABLED)
def test_webhook(webhook_id: UUID) -> LoggedDelivery:
    """Send the event `webhook.test` now, or after the rest of a webhook that fails; the log says how it went."""
    return log.send_test(wired().uow, auth.person("write").user_id, webhook_id)


@api.get(f"{ONE}/deliveries")
@api.input(PageQuery, location="query", arg_name="page")
@api.output(DeliveriesShape)
@api.doc(operation_id="listWebhookDeliveries", tags=["Webhooks"])
def list_webhook_deliveries(webhook_id: UUID, page: PageQuery) -> dict[str, Any]:
    """The log of the last 30 days, newest first, each delivery with its last attempt."""
    found, following = log.deliveries(
        wired().uow, auth.person().user_id, webhook_id, before=page.cursor, limit=page.limit
    )
    return {"items": found, "next": following}


@api.post(f"{ONE}/deliveries/<int:number>/replay")
@api.output(DeliveryShape, 202)
@api.doc(operation_id="replayWebhookDelivery", tags=["Webhooks"], responses=DISABLED)
def replay_webhook_delivery(webhook_id: UUID, number: int) -> LoggedDelivery:
    """Send a delivery again, with the same `webhook-id` and the same body."""
    owner = auth.person("write").user_id
    return log.replay(wired().uow, owner, webhook_id, number)
