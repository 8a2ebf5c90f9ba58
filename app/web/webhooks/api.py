"""The webhooks of the account."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.domain.webhooks import OLD_SECRET_LIVES
from app.services.webhooks import webhooks
from app.store.webhooks.webhooks import Webhook, WebhookFields
from app.web.accounts import notices
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.core.instants import iso
from app.web.webhooks.schemas import ChangedWebhook, NewWebhook, WholeWebhook, own_fields
from app.web.webhooks.shapes import MadeWebhookShape, SecretShape, WebhookShape, WebhooksShape

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
    owner, now = auth.person("write").user_id, utc_now()
    secret = webhooks.rotate(wired().uow, owner, webhook_id, wired().keyring, now=now)
    return {"secret": secret, "old_secret_until": iso(now + OLD_SECRET_LIVES)}


def _changed(webhook_id: UUID, body: ChangedWebhook | WholeWebhook) -> Webhook:
    services, owner = wired(), auth.person("write").user_id
    return webhooks.change(
        services.uow,
        owner,
        webhook_id,
        services.webhook_addresses,
        now=utc_now(),
        enabled=body.enabled,
        **own_fields(body),
    )
