"""The pages of webhooks: the list, and one webhook with its log."""

from __future__ import annotations

from uuid import UUID

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.domain.webhooks import EVENTS, MOST_WEBHOOKS
from app.errors import Conflict, InvalidInput, Problem
from app.services.webhooks import log, webhooks
from app.store.webhooks.webhooks import WebhookFields
from app.web.accounts import notices
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.core.schemas import PageQuery
from app.web.webhooks.schemas import WebhookForm, own_fields
from app.web.webhooks.words import FAULTS, WHY_DISABLED

ONE = "/account/webhooks/<uuid:webhook_id>"
#: Problems with what was typed, shown beside the form.
TOLD_ON_THE_FORM = (InvalidInput, Conflict)
#: Rows of a page of the log.
MOST_ROWS = 25


@pages.get("/account/webhooks")
def show_webhooks() -> str:
    """The account's webhooks."""
    return _list()


@pages.post("/account/webhooks")
def add_webhook() -> str | tuple[str, int]:
    """Create one and show its secret; this is the only time, so there is no redirect."""
    services, owner, typed = wired(), auth.person_with_proof(), _typed()
    try:
        made, secret = webhooks.add(
            services.uow,
            owner.user_id,
            WebhookFields(**own_fields(typed)),
            services.webhook_addresses,
            services.keyring,
            by=auth.own_session(),
            now=utc_now(),
        )
    except TOLD_ON_THE_FORM as problem:
        return _list(problem), problem.status
    notices.tell(owner, notices.NEW_WEBHOOK)
    return _one(made.id, secret=secret)


@pages.get(ONE)
def show_webhook(webhook_id: UUID) -> str:
    """Show one webhook, its settings and its log."""
    return _one(webhook_id)


@pages.post(ONE)
def change_webhook(webhook_id: UUID) -> Response | tuple[str, int]:
    """Change a webhook's address, description and events."""
    owner, typed = auth.person_with_proof().user_id, _typed()
    try:
        webhooks.change(
            wired().uow,
            owner,
            webhook_id,
            wired().webhook_addresses,
            now=utc_now(),
            **own_fields(typed),
        )
    except TOLD_ON_THE_FORM as problem:
        return _one(webhook_id, problem=problem), problem.status
    return _back(webhook_id)


@pages.post(f"{ONE}/enable")
def enable_webhook(webhook_id: UUID) -> Response:
    """Enable the webhook."""
    return _switched(webhook_id, enabled=True)


@pages.post(f"{ONE}/disable")
def disable_webhook(webhook_id: UUID) -> Response:
    """Disable the webhook until it is enabled again."""
    return _switched(webhook_id, enabled=False)


@pages.post(f"{ONE}/secret")
def rotate_webhook_secret(webhook_id: UUID) -> str:
    """A new secret, shown this once."""
    owner = auth.person_with_proof().user_id
    return _one(webhook_id, secret=webhooks.rotate(wired().uow, owner, webhook_id, wired().keyring, now=utc_now()))


@pages.post(f"{ONE}/test")
def test_webhook(webhook_id: UUID) -> Response:
    """Send a test event."""
    log.send_test(wired().uow, auth.person("write").user_id, webhook_id)
    return _back(webhook_id)


@pages.post(f"{ONE}/deliveries/<int:number>/replay")
def replay_webhook_delivery(webhook_id: UUID, number: int) -> Response:
    """Send a delivery again."""
    log.replay(wired().uow, auth.person("write").user_id, webhook_id, number)
    return _back(webhook_id)


@pages.post(f"{ONE}/delete")
def delete_webhook(webhook_id: UUID) -> Response:
    """Delete it with its log."""
    webhooks.remove(wired().uow, auth.person("write").user_id, webhook_id)
    return redirect(url_for("pages.show_webhooks"), 303)


def _typed() -> WebhookForm:
    return read(WebhookForm, request.form)


def _switched(webhook_id: UUID, *, enabled: bool) -> Response:
    owner = auth.person("write").user_id
    webhooks.change(wired().uow, owner, webhook_id, wired().webhook_addresses, now=utc_now(), enabled=enabled)
    return _back(webhook_id)


def _back(webhook_id: UUID) -> Response:
    return redirect(url_for("pages.show_webhook", webhook_id=webhook_id), 303)


def _list(problem: Problem | None = None) -> str:
    found = webhooks.list_of(wired().uow, auth.person().user_id, now=utc_now())
    return render_template(
        "webhooks/webhooks.html",
        webhooks=found,
        most=MOST_WEBHOOKS,
        events=EVENTS,
        why=WHY_DISABLED,
        problem=problem,
        url=request.form.get("url", ""),
        description=request.form.get("description", ""),
        chosen=request.form.getlist("event"),
        fresh=auth.is_fresh(),
    )


def _one(webhook_id: UUID, *, secret: str | None = None, problem: Problem | None = None) -> str:
    owner, query = auth.person().user_id, read(PageQuery, request.args)
    found = webhooks.find(wired().uow, owner, webhook_id, now=utc_now())
    rows, following = log.deliveries(wired().uow, owner, webhook_id, before=query.cursor, limit=MOST_ROWS)
    return render_template(
        "webhooks/webhook.html",
        webhook=found,
        deliveries=rows,
        next=following,
        first=query.cursor is None,
        events=EVENTS,
        why=WHY_DISABLED,
        faults=FAULTS,
        secret=secret,
        problem=problem,
        url=request.form.get("url", found.url),
        description=request.form.get("description", found.description),
        chosen=request.form.getlist("event") or found.events,
    )
