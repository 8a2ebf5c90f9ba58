"""Passkeys: add and remove them on the account's page, sign in and up with one.

Each has two steps: the script asks for options, and the form brings the authenticator's answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import UUID

from flask import Response, redirect, request, session, url_for
from werkzeug.wrappers import Response as Redirect

from app.errors import InvalidInput, Problem
from app.services.accounts import passkeys
from app.services.accounts.passkeys import Ceremony, Challenge
from app.web.accounts import notices
from app.web.accounts.passkey_site import site
from app.web.accounts.settings_pages import TOLD_ON_THE_FORM, refused
from app.web.accounts.sign_in_pages import TOLD_ON_THE_FORM as TOLD_TO_STRANGERS
from app.web.accounts.sign_in_pages import again, begin_session, network, new_account, require_open, stranger
from app.web.accounts.verification import greet
from app.web.core import auth, problems, refusals, residence
from app.web.core.context import utc_now, wired
from app.web.core.exchanges import noted
from app.web.core.pages import PageAnswer, pages

#: In the session: what the browser was asked for.
ASKED = residence.BY_PASSKEY


@pages.post("/account/passkeys/options")
def ask_to_register() -> Response:
    """Send the options for making another passkey."""
    return ask_browser(Ceremony.REGISTER, _registration)


@pages.post("/account/passkeys")
def add_passkey() -> Redirect | PageAnswer:
    """Store the passkey that the browser made."""
    account, name = auth.person("write"), request.form.get("name", "")
    try:
        ceremony = asked_browser(Ceremony.REGISTER)
        passkeys.register(
            wired().uow,
            account,
            answer(),
            ceremony["challenge"],
            site(),
            name=name,
            session=auth.own_session(),
            now=utc_now(),
        )
    except TOLD_ON_THE_FORM as problem:
        return refused("passkeys", problem)
    notices.tell(account, notices.NEW_PASSKEY)
    return redirect(url_for("pages.show_account", _anchor="passkeys"), 303)


@pages.post("/account/passkeys/<uuid:passkey_id>/remove")
def remove_passkey(passkey_id: UUID) -> Redirect | PageAnswer:
    """Remove a passkey, unless it is the last way to sign in."""
    account, services = auth.person("write"), wired()
    try:
        offers_github = services.settings.github_client_id is not None
        passkeys.remove(services.uow, account.user_id, passkey_id, offers_github=offers_github)
    except TOLD_ON_THE_FORM as problem:
        return refused("passkeys", problem)
    return redirect(url_for("pages.show_account", _anchor="passkeys"), 303)


@pages.post("/sign-in/passkey/options")
def ask_for_passkey() -> Response:
    """Send the options for finding a passkey of this site."""
    return ask_browser(
        Ceremony.SIGN_IN, lambda: passkeys.begin_sign_in(wired().uow, site(), **stranger(), now=utc_now())
    )


@pages.post("/sign-in/passkey")
def enter_passkey() -> Redirect | PageAnswer:
    """Check the passkey and begin a session under a new cookie."""
    try:
        challenge = asked_browser(Ceremony.SIGN_IN)["challenge"]
        services = wired()
        return begin_session(
            passkeys.sign_in(services.uow, answer(), challenge, site(), elsewhere=services.elsewhere, now=utc_now())
        )
    except TOLD_TO_STRANGERS as problem:
        return again("accounts/sign_in.html", problem)


@pages.post("/sign-up/passkey/options")
def ask_for_first_passkey() -> Response:
    """Send the options for making the first passkey of a new account."""
    return ask_browser(Ceremony.SIGN_UP, _first)


@pages.post("/sign-up/passkey")
def sign_up_with_passkey() -> Redirect | PageAnswer:
    """Create the account and begin its first session.  Raises: Forbidden where only operators create accounts."""
    require_open()
    try:
        ceremony = asked_browser(Ceremony.SIGN_UP)
        made = passkeys.sign_up_with(
            wired().uow,
            answer(),
            ceremony["challenge"],
            site(),
            user_id=UUID(ceremony["user_id"]),
            email=ceremony["email"],
            name=request.form.get("name", ""),
            network=network(),
            now=utc_now(),
            **new_account(),
        )
        greet(made)
        return begin_session(made)
    except TOLD_TO_STRANGERS as problem:
        return again("accounts/sign_up.html", problem)


def _sign_in() -> Challenge:
    return passkeys.begin_sign_in(wired().uow, site(), **stranger(), now=utc_now())


def _registration() -> Challenge:
    return passkeys.begin_registration(wired().uow, auth.person_with_proof(), site(), now=utc_now())


def _first() -> Challenge:
    require_open()
    email = request.form.get("email", "").strip()
    return passkeys.begin_sign_up(wired().uow, email, site(), **stranger(), now=utc_now())


def ask_browser(ceremony: Ceremony, begin: Callable[[], Challenge]) -> Response:
    """Remember in the session what is asked for; a script reads the answer, so a refusal is a document as well."""
    try:
        challenge: Challenge = begin()
    except Problem as problem:
        return _document(json.dumps(refusals.in_words(problems.document(problem))), noted(problem))
    session[ASKED] = {"for": ceremony.value, "challenge": challenge.text}
    if challenge.user_id:
        session[ASKED] |= {"user_id": str(challenge.user_id), "email": request.form.get("email", "").strip()}
    if ceremony in {Ceremony.SIGN_IN, Ceremony.SIGN_UP}:
        session[ASKED] |= residence.here()
    return _document(challenge.options, 200)


def asked_browser(ceremony: Ceremony) -> dict[str, str]:
    """Take what `ask_browser` kept from the session.  Raises: InvalidInput if that is for another ceremony."""
    found = session.pop(ASKED, None)
    if not isinstance(found, dict) or found.get("for") != ceremony.value:
        raise InvalidInput(passkeys.EXPIRED)
    return found


def answer() -> str:
    """The authenticator's answer, from the form."""
    return request.form.get("credential", "")


def _document(body: str, status: int) -> Response:
    return Response(body, status, mimetype="application/json")
