"""Confirm that it is you, before a session may add ways in, tokens and webhooks (docs/adr/0057)."""

from __future__ import annotations

from flask import Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as Redirect

from app.errors import ConfirmationNeeded, Problem, Unauthenticated
from app.services.accounts import confirmations, passkeys, sign_in_methods
from app.services.accounts.passkeys import Ceremony
from app.web.accounts.mails import mails
from app.web.accounts.passkey_pages import answer, ask_browser, asked_browser
from app.web.accounts.passkey_site import possible_site, site
from app.web.accounts.settings_pages import TOLD_ON_THE_FORM
from app.web.core import auth, next_pages
from app.web.core.context import utc_now, wired
from app.web.core.exchanges import noted
from app.web.core.pages import PageAnswer, pages


@pages.errorhandler(ConfirmationNeeded)
def lead_to_confirmation(_: ConfirmationNeeded) -> Redirect:
    """Redirect from a form that needs a proof to the confirmation, which leads back to the form's page."""
    return redirect(url_for("pages.show_confirmation", next=next_pages.before_this()), 303)


@pages.get("/account/confirm")
def show_confirmation() -> str:
    """Ask for the password, or for another way to prove who somebody is."""
    next_pages.remember()
    return _page()


@pages.post("/account/confirm")
def confirm_by_password() -> Redirect | PageAnswer:
    """Compare the password, and go on under a new cookie."""
    account, typed, own = auth.person("write"), request.form.get("current", ""), auth.own_session()
    try:
        return _go_on(confirmations.by_password(wired().uow, account.user_id, typed, session=own, now=utc_now()))
    except TOLD_ON_THE_FORM as problem:
        return _refused(problem)


@pages.post("/account/confirm/passkey/options")
def ask_for_own_passkey() -> Response:
    """Send the options for finding a passkey of the account."""
    return ask_browser(
        Ceremony.CONFIRM,
        lambda: passkeys.begin_confirmation(wired().uow, auth.person("write"), site(), now=utc_now()),
    )


@pages.post("/account/confirm/passkey")
def confirm_by_passkey() -> Redirect | PageAnswer:
    """Check the passkey, and go on under a new cookie."""
    user_id, own = auth.person("write").user_id, auth.own_session()
    try:
        challenge = asked_browser(Ceremony.CONFIRM)["challenge"]
        made = confirmations.by_passkey(wired().uow, user_id, answer(), challenge, site(), session=own, now=utc_now())
    except (*TOLD_ON_THE_FORM, Unauthenticated) as problem:
        return _refused(problem)
    return _go_on(made)


def _go_on(secret: str) -> Redirect:
    to = next_pages.taken()
    auth.renew_session(secret)
    return redirect(to, 303)


def _refused(problem: Problem) -> PageAnswer:
    headers = {} if problem.retry_after is None else {"Retry-After": str(problem.retry_after)}
    return _page(problem), noted(problem), headers


def _page(problem: Problem | None = None) -> str:
    services, offers_github = wired(), wired().settings.github_client_id is not None
    ways = sign_in_methods.of_user(services.uow, auth.person().user_id, offers_github=offers_github)
    return render_template(
        "accounts/confirm.html",
        ways=ways,
        passkeys_work=possible_site() is not None,
        are_mailed=mails().are_sent,
        problem=problem,
    )
