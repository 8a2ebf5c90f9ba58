"""The webhooks of the account and their deliveries: a log, tests, and sending one again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.domain.webhooks import OLD_SECRET_LIVES, WebhookFields
from app.services.webhooks import log, webhooks
from app.services.webhooks.log import LoggedDelivery
from app.store.webhooks.webhooks import Webhook
from app.web.accounts import notices
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.core.instants import iso
from app.web.core.schemas import PageQuery
from app.web.webhooks import owner_changes
from app.web.webhooks.schemas import ChangedWebhook, NewWebhook, WholeWebhook, own_fields
from app.web.webhooks.shapes import (
    DeliveriesShape,
    DeliveryShape,
    MadeWebhookShape,
    SecretShape,
    WebhookShape,
    WebhooksShape,
)

ONE = "/me/webhooks/<uuid:webhook_id>"


@api.get("/me/webhooks")
@api.output(WebhooksShape)
@api.doc(operation_id="listWebhooks", tags=["Webhooks"])
def list_webhooks() -> dict[str, Any]:
    """Your webhooks, newest first, without their secrets."""
    return {"items": webhooks.list_of(wired().uow, auth.person().user_id, now=utc_now())}


@api.post("/me/webhooks")
@api.input(NewWebhook, arg_name="body")
@api.output(MadeWebhookShape, 201)
@api.doc(
    operation_id="addWebhook", tags=["Webhooks"], responses={409: "The account has the maximum number of webhooks"}
)
def add_webhook(body: NewWebhook) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Create a webhook; its secret is shown only once."""
    services, account = wired(), auth.person("write")
    made, secret = webhooks.add(
        services.uow,
        account.user_id,
        WebhookFields(**own_fields(body)),
        services.webhook_addresses,
        services.keyring,
        by=auth.own_token(),
        now=utc_now(),
    )
    notices.tell(account, notices.NEW_WEBHOOK)
    shown = WebhookShape.model_validate(made).model_dump()
    return shown | {"secret": secret}, 201, {"Location": f"/api/v1/me/webhooks/{made.id}"}


@api.get(ONE)
@api.output(WebhookShape)
@api.doc(operation_id="getWebhook", tags=["Webhooks"])
def show_webhook(webhook_id: UUID) -> Webhook:
    """One webhook, without its secret."""
    return webhooks.find(wired().uow, auth.person().user_id, webhook_id, now=utc_now())


@api.patch(ONE)
@api.input(ChangedWebhook, arg_name="body")
@api.output(WebhookShape)
@api.doc(operation_id="changeWebhook", tags=["Webhooks"])
def change_webhook(webhook_id: UUID, body: ChangedWebhook) -> Webhook:
    """Change a webhook; enabling it forgets its failures, and what is pending is sent after its rest."""
    return _changed(webhook_id, body)


@api.put(ONE)
@api.input(WholeWebhook, arg_name="body")
@api.output(WebhookShape)
@api.doc(operation_id="replaceWebhook", tags=["Webhooks"])
def replace_webhook(webhook_id: UUID, body: WholeWebhook) -> Webhook:
    """Replace everything but the secret."""
    return _changed(webhook_id, body)


@api.delete(ONE)
@api.doc(operation_id="deleteWebhook", tags=["Webhooks"], responses={204: "Deleted with its log"})
def delete_webhook(webhook_id: UUID) -> tuple[str, int]:
    """Delete a webhook and its log."""
    webhooks.remove(wired().uow, auth.person("write").user_id, webhook_id)
    return "", 204


@api.post(f"{ONE}/secret")
@api.output(SecretShape)
@api.doc(operation_id="rotateWebhookSecret", tags=["Webhooks"])
def rotate_webhook_secret(webhook_id: UUID) -> dict[str, Any]:
    """Replace the secret; for 24 hours the old one signs as well, so each attempt has two signatures."""
    now = utc_now()
    secret = owner_changes.rotate(auth.person("write"), webhook_id, now=now)
    return {"secret": secret, "old_secret_until": iso(now + OLD_SECRET_LIVES)}


def _changed(webhook_id: UUID, body: ChangedWebhook | WholeWebhook) -> Webhook:
    owner = auth.person("write")
    return owner_changes.change(owner, webhook_id, now=utc_now(), enabled=body.enabled, **own_fields(body))


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
