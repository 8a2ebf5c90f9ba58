"""The webhooks of the account."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.domain.webhooks import OLD_SECRET_LIVES
from app.services.webhooks import webhooks
from app.web.accounts import notices
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.core.instants import iso
from app.web.webhooks import shapes
from app.web.webhooks.schemas import ChangedWebhook, NewWebhook, WholeWebhook
from app.web.webhooks.shapes import webhook_json

ONE = "/me/webhooks/<uuid:webhook_id>"


@api.get("/me/webhooks")
@api.output(shapes.Webhooks)
@api.doc(operation_id="listWebhooks", tags=["Webhooks"])
def list_webhooks() -> dict[str, Any]:
    """Your webhooks, newest first, without their secrets."""
    return {"items": [webhook_json(one) for one in webhooks.list_of(wired().uow, auth.person().user_id, now=utc_now())]}


@api.post("/me/webhooks")
@api.input(NewWebhook, arg_name="asked")
@api.output(shapes.NewWebhookShape, 201)
@api.doc(
    operation_id="addWebhook", tags=["Webhooks"], responses={409: "The account has the maximum number of webhooks"}
)
def add_webhook(asked: NewWebhook) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Create a webhook; its secret is shown only once."""
    services, account = wired(), auth.person("write")
    made, secret = webhooks.add(
        services.uow,
        account.user_id,
        asked.url,
        asked.events,
        asked.description,
        services.webhook_addresses,
        services.keyring,
        by=auth.own_token(),
        now=utc_now(),
    )
    notices.tell(account, notices.NEW_WEBHOOK)
    return webhook_json(made) | {"secret": secret}, 201, {"Location": f"/api/v1/me/webhooks/{made.id}"}


@api.get(ONE)
@api.output(shapes.WebhookShape)
@api.doc(operation_id="getWebhook", tags=["Webhooks"])
def show_webhook(webhook_id: UUID) -> dict[str, Any]:
    """One webhook, without its secret."""
    return webhook_json(webhooks.find(wired().uow, auth.person().user_id, webhook_id, now=utc_now()))


@api.patch(ONE)
@api.input(ChangedWebhook, arg_name="asked")
@api.output(shapes.WebhookShape)
@api.doc(operation_id="changeWebhook", tags=["Webhooks"])
def change_webhook(webhook_id: UUID, asked: ChangedWebhook) -> dict[str, Any]:
    """Change a webhook; enabling it forgets its failures, and what is pending is sent."""
    return _changed(webhook_id, asked)


@api.put(ONE)
@api.input(WholeWebhook, arg_name="asked")
@api.output(shapes.WebhookShape)
@api.doc(operation_id="replaceWebhook", tags=["Webhooks"])
def replace_webhook(webhook_id: UUID, asked: WholeWebhook) -> dict[str, Any]:
    """Replace everything but the secret."""
    return _changed(webhook_id, asked)


@api.delete(ONE)
@api.doc(operation_id="deleteWebhook", tags=["Webhooks"], responses={204: "Deleted with its log"})
def delete_webhook(webhook_id: UUID) -> tuple[str, int]:
    """Delete a webhook and its log."""
    webhooks.remove(wired().uow, auth.person("write").user_id, webhook_id)
    return "", 204


@api.post(f"{ONE}/secret")
@api.output(shapes.SecretShape)
@api.doc(operation_id="rotateWebhookSecret", tags=["Webhooks"])
def rotate_webhook_secret(webhook_id: UUID) -> dict[str, Any]:
    """Replace the secret; for 24 hours the old one signs as well, so each attempt has two signatures."""
    owner, now = auth.person("write").user_id, utc_now()
    secret = webhooks.rotate(wired().uow, owner, webhook_id, wired().keyring, now=now)
    return {"secret": secret, "old_secret_until": iso(now + OLD_SECRET_LIVES)}


def _changed(webhook_id: UUID, asked: ChangedWebhook | WholeWebhook) -> dict[str, Any]:
    services, owner = wired(), auth.person("write").user_id
    done = webhooks.change(
        services.uow,
        owner,
        webhook_id,
        services.webhook_addresses,
        now=utc_now(),
        url=asked.url,
        events=asked.events,
        description=asked.description,
        enabled=asked.enabled,
    )
    return webhook_json(done)
