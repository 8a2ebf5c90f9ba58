"""A forgotten password, and the links that a person gets by mail."""

from __future__ import annotations

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.errors import Busy, InvalidInput, Problem, TooManyRequests
from app.services.accounts import password_resets
from app.services.accounts.password_hashes import LONGEST, SHORTEST
from app.web.accounts import notices
from app.web.accounts.mails import mails
from app.web.accounts.sign_in_pages import begin_session, stranger
from app.web.accounts.verification import send_verification
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.exchanges import noted
from app.web.core.pages import PageAnswer, pages
from app.web.core.public_links import secret_link

SUBJECT = "Fairlane: Set a new password"
WORDS = "With this link, you set a new password. It works once, within an hour."


@pages.get("/forgot")
def show_forgot() -> str:
    """Ask for the address of the account."""
    return render_template("accounts/forgot.html", are_mailed=mails().are_sent)


@pages.post("/forgot")
def forget_password() -> str | PageAnswer:
    """Send a link, and say and do the same whether or not there is such an account; it is looked up afterwards."""
    email, are_mailed = request.form.get("email", "").strip(), mails().are_sent
    try:
        password_resets.count_request(wired().uow, **stranger())
    except TooManyRequests as problem:
        page = render_template("accounts/forgot.html", problem=problem, are_mailed=are_mailed, email=email[:300])
        return page, noted(problem), {"Retry-After": str(problem.retry_after)}
    uow, elsewhere, path = wired().uow, wired().elsewhere, secret_link(url_for("pages.show_reset", token=""))

    def find() -> tuple[str, str] | None:
        letter = password_resets.ask(uow, email, mailed=are_mailed, elsewhere=elsewhere, now=uow.now())
        return (letter.email, path + letter.secret) if letter else None

    mails().send_found(find, SUBJECT, WORDS)
    return render_template("accounts/forgot.html", sent=True, are_mailed=are_mailed)


@pages.get("/reset")
def show_reset() -> str:
    """Ask for the new password."""
    return _reset_page(request.args.get("token", ""))


@pages.post("/reset")
def reset_password() -> Response | PageAnswer:
    """Set the password, end all sessions, and sign in."""
    token, new, services = request.form.get("token", ""), request.form.get("password", ""), wired()
    try:
        made = password_resets.reset(services.uow, token, new, elsewhere=services.elsewhere, now=utc_now())
    except (InvalidInput, TooManyRequests, Busy) as problem:
        headers = {} if problem.retry_after is None else {"Retry-After": str(problem.retry_after)}
        return _reset_page(token, problem), noted(problem), headers
    notices.tell_verified(made.account, notices.PASSWORD_CHANGE)
    return begin_session(made.session)


@pages.post("/account/verify")
def ask_to_verify() -> Response:
    """Send a link to the address of the account."""
    send_verification(auth.person("write"))
    return redirect(url_for("pages.show_account", sent=""), 303)


@pages.get("/verify")
def show_verify() -> str:
    """Show a button, because a program that previews links must not use one up."""
    return render_template("accounts/verify.html", token=request.args.get("token", ""))


@pages.post("/verify")
def verify_email() -> Response:
    """Note that the signed-in person reads mail to the address.  Raises: Unauthenticated, InvalidInput."""
    account, token, own = auth.person("write"), request.form.get("token", ""), auth.own_session()
    auth.renew_session(password_resets.verify(wired().uow, account, token, session=own, now=utc_now()))
    return redirect(url_for("pages.show_account"), 303)


def _reset_page(token: str, problem: Problem | None = None) -> str:
    return render_template("accounts/reset.html", token=token, problem=problem, shortest=SHORTEST, longest=LONGEST)
