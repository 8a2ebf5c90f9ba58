"""Sign up, sign in with a password or a link, sign out."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from app.errors import Busy, Conflict, Forbidden, InvalidInput, Problem, TooManyRequests, Unauthenticated
from app.services.accounts import accounts, passwords, sessions
from app.services.accounts.password_hashes import LONGEST, SHORTEST
from app.services.analyses.take_over import take_over
from app.web.accounts.passkey_site import possible_site
from app.web.accounts.verification import greet
from app.web.core import auth, next_pages, residence
from app.web.core.context import utc_now, wired
from app.web.core.exchanges import noted
from app.web.core.pages import PageAnswer, pages

#: In the session: the jobs that this browser submitted as a visitor.
MINE = "mine"
#: Problems with what was typed, as opposed to the service: the form keeps the address.
TOLD_ON_THE_FORM = (InvalidInput, Unauthenticated, Conflict, TooManyRequests, Busy)


@pages.get("/sign-in")
def show_sign_in() -> str:
    """Show a button for a link, because a program that previews links must not use one up."""
    next_pages.remember()
    return render_template("accounts/sign_in.html", token=request.args.get("token", ""), **_offered())


@pages.post("/sign-in")
def spend_link() -> Response:
    """Use up the link and begin a session under a new cookie.  Raises: InvalidInput."""
    secret = sessions.sign_in(wired().uow, request.form.get("token", ""), now=utc_now())
    if secret is None:
        raise InvalidInput("This link was used before or has expired; ask the operator for a new one.")
    return begin_session(secret)


@pages.post("/sign-in/password")
def enter_password() -> Response | PageAnswer:
    """Compare the password and begin a session under a new cookie."""
    try:
        return begin_session(passwords.sign_in(wired().uow, **_typed()))
    except TOLD_ON_THE_FORM as problem:
        return again("accounts/sign_in.html", problem)


@pages.get("/sign-up")
def show_sign_up() -> str:
    """Show a form, if people may create their accounts."""
    next_pages.remember()
    return render_template("accounts/sign_up.html", **_offered())


@pages.post("/sign-up")
def sign_up() -> Response | PageAnswer:
    """Create an account and begin its first session.  Raises: Forbidden where only operators create accounts."""
    require_open()
    try:
        made = passwords.sign_up(wired().uow, **_typed(), **new_account())
        greet(made)
        return begin_session(made)
    except TOLD_ON_THE_FORM as problem:
        return again("accounts/sign_up.html", problem)


@pages.post("/sign-out")
def sign_out() -> Response:
    """End the session here and on the server.

    Raises: Unauthenticated where the account lived: the router repeats the request in its new cell.
    """
    if not _end() and residence.is_sent_here():
        residence.found_nobody()
        raise Unauthenticated
    return redirect(url_for("pages.home"), 303)


def begin_session(secret: str) -> Response:
    """Begin a session with a new cookie and a new form token, and end the browser's previous session.

    The account takes over the browser's submissions as a visitor; the person returns to the page they came from.
    """
    wanted, jobs = next_pages.taken(), [UUID(job_id) for job_id in session.get(MINE, [])]
    _end()
    session[auth.SESSION_KEY] = secret
    if jobs and (account := sessions.by_session(wired().uow, secret, now=utc_now())):
        take_over(wired().uow, account, jobs)
    return redirect(wanted, 303)


def _end() -> bool:
    """End the browser's session.  Returns: whether there was one."""
    secret = auth.own_session()
    session.clear()
    return bool(secret) and sessions.sign_out(wired().uow, secret)


def stranger() -> dict[str, str]:
    """The client whose attempts are counted."""
    return {"client": request.remote_addr or "", "secret": wired().visitors_key}


def network() -> UUID:
    """The network whose share of a day's sign-ups is used."""
    return accounts.network_id(request.remote_addr or "", wired().visitors_key)


def new_account() -> dict[str, Any]:
    """The settings of every new account, and how many may be created."""
    settings = wired().settings
    return {"tier": settings.default_tier, "per_day": settings.sign_ups_of_cell}


def require_open() -> None:
    """Require that people may create their own accounts.  Raises: Forbidden."""
    if not is_open():
        raise Forbidden("Accounts of this service are created by its operator.")


def is_open() -> bool:
    """Whether people may create their accounts."""
    return wired().settings.sign_up == "open"


def _typed() -> dict[str, Any]:
    typed = {"email": request.form.get("email", "").strip(), "password": request.form.get("password", "")}
    return {**typed, **stranger(), "now": utc_now()}


def again(template: str, problem: Problem) -> PageAnswer:
    """The page with the problem above its form, which keeps the address."""
    headers = {} if problem.retry_after is None else {"Retry-After": str(problem.retry_after)}
    email = request.form.get("email", "")[:300]
    page = render_template(template, problem=problem, email=email, **_offered())
    return page, noted(problem), headers


def _offered() -> dict[str, Any]:
    """The ways in that the pages offer."""
    settings = wired().settings
    return {
        "may_sign_up": is_open(),
        "passkeys_work": possible_site() is not None,
        "offers_github": settings.github_client_id is not None,
        "shortest": SHORTEST,
        "longest": LONGEST,
    }
