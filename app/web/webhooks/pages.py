"""The pages of webhooks: the list, and one webhook with its log."""

from __future__ import annotations

from uuid import UUID

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.domain.webhooks import EVENTS, MOST_WEBHOOKS, WebhookFields
from app.errors import Conflict, InvalidInput, Problem
from app.services.webhooks import log, webhooks
from app.web.accounts import notices
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.exchanges import noted
from app.web.core.languages import lazy_gettext as _
from app.web.core.pages import pages, read
from app.web.core.schemas import PageQuery
from app.web.webhooks import owner_changes
from app.web.webhooks.schemas import WebhookForm, own_fields

WHY_DISABLED = {
    "owner": _("You disabled it."),
    "gone": _("It was disabled because its receiver answered 410 Gone."),
    "failing": _("It was disabled because every attempt of five days failed."),
}
FAULTS = {
    "address_refused": _("The address is not public, or its port is not allowed."),
    "host_not_found": _("The name of the host was not found."),
    "unreachable": _("The receiver did not accept the connection, or broke it off."),
    "tls_failed": _("The certificate of the receiver is not valid for its name."),
    "timed_out": _("The receiver did not answer in time."),
    "redirected": _("The receiver answered with a redirect, which is not followed."),
    "refused": _("The receiver answered with an error."),
    "secret_unreadable": _("The stored secret cannot be read; rotate it."),
    "too_many_pending": _("100 deliveries were pending, so this one was not sent; replay it when your receiver works."),
    "job_deleted": _("The job was deleted before its event was sent."),
}


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
        return _list(typed, problem), noted(problem)
    notices.tell(owner, notices.NEW_WEBHOOK)
    return _one(made.id, secret=secret)


@pages.get(ONE)
def show_webhook(webhook_id: UUID) -> str:
    """Show one webhook, its settings and its log."""
    return _one(webhook_id)


@pages.post(ONE)
def change_webhook(webhook_id: UUID) -> Response | tuple[str, int]:
    """Change a webhook's address, description and events."""
    owner, typed = auth.person_with_proof(), _typed()
    try:
        owner_changes.change(owner, webhook_id, now=utc_now(), **own_fields(typed))
    except TOLD_ON_THE_FORM as problem:
        return _one(webhook_id, typed=typed, problem=problem), noted(problem)
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
    owner = auth.person_with_proof()
    return _one(webhook_id, secret=owner_changes.rotate(owner, webhook_id, now=utc_now()))


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
    owner_changes.change(auth.person("write"), webhook_id, now=utc_now(), enabled=enabled)
    return _back(webhook_id)


def _back(webhook_id: UUID) -> Response:
    return redirect(url_for("pages.show_webhook", webhook_id=webhook_id), 303)


def _list(typed: WebhookForm | None = None, problem: Problem | None = None) -> str:
    found = webhooks.list_of(wired().uow, auth.person().user_id, now=utc_now())
    return render_template(
        "webhooks/webhooks.html",
        webhooks=found,
        most=MOST_WEBHOOKS,
        events=EVENTS,
        why=WHY_DISABLED,
        problem=problem,
        typed=typed or WebhookForm(),
        fresh=auth.is_fresh(),
    )


def _one(
    webhook_id: UUID, *, secret: str | None = None, typed: WebhookForm | None = None, problem: Problem | None = None
) -> str:
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
        typed=typed or found,
    )
