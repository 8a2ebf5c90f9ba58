"""Sign in with GitHub, and link or unlink a GitHub account."""

from __future__ import annotations

import secrets

from flask import abort, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from app.errors import Busy, Forbidden, GitHostUnreachable, InvalidInput, Message, Problem
from app.services.accounts import github as use_cases
from app.services.accounts.github import Identity
from app.web.accounts import notices
from app.web.accounts.github import github
from app.web.accounts.settings_pages import TOLD_ON_THE_FORM, refused
from app.web.accounts.sign_in_pages import TOLD_ON_THE_FORM as TOLD_TO_STRANGERS
from app.web.accounts.sign_in_pages import again, begin_session, is_open, network, new_account, stranger
from app.web.core import auth, residence
from app.web.core.context import utc_now, wired
from app.web.core.pages import PageAnswer, pages
from app.web.core.public_links import absolute

#: In the session: the state, the verifier of PKCE, and whether to link.
ASKED = residence.BY_GITHUB
DENIED = Message("You cancelled the sign-in at GitHub. Nothing has changed.")
TOLD = (*TOLD_TO_STRANGERS, *TOLD_ON_THE_FORM, Forbidden, GitHostUnreachable, Busy)


@pages.post("/sign-in/github")
def ask_github() -> str | PageAnswer:
    """Lead to GitHub, to sign in."""
    try:
        return _lead(is_link=False)
    except TOLD_TO_STRANGERS as problem:
        return again("accounts/sign_in.html", problem)


@pages.post("/account/github")
def link_github() -> str | PageAnswer:
    """Lead to GitHub, to link an account of it."""
    auth.person_with_proof()
    try:
        return _lead(is_link=True)
    except TOLD_ON_THE_FORM as problem:
        return refused("github", problem)


@pages.post("/account/github/unlink")
def unlink_github() -> Response | PageAnswer:
    """Unlink GitHub, unless it is the last way to sign in."""
    try:
        use_cases.unlink(wired().uow, auth.person("write").user_id)
    except TOLD_ON_THE_FORM as problem:
        return refused("github", problem)
    return redirect(url_for("pages.show_account", _anchor="github"), 303)


@pages.get("/sign-in/github/callback")
def come_back() -> Response | PageAnswer:
    """GitHub leads here, with a code or with the person's refusal."""
    _require_offer()
    kept = session.pop(ASKED, None)
    is_link = isinstance(kept, dict) and bool(kept.get("is_link"))
    try:
        return _link(_identity(kept)) if is_link else _sign_in(_identity(kept))
    except TOLD as problem:
        return _refused(problem, is_link=is_link)


def _lead(*, is_link: bool) -> str:
    """A page that goes on to GitHub: our CSP lets no form lead to another site.  Raises: TooManyRequests."""
    _require_offer()
    user_id = auth.person("write").user_id if is_link else None
    state = use_cases.begin(wired().uow, user_id=user_id, **stranger(), now=utc_now())
    verifier = secrets.token_urlsafe(48)
    session[ASKED] = {"state": state, "verifier": verifier, "is_link": is_link}
    if not is_link:
        session[ASKED] |= residence.here()
    return render_template("accounts/github.html", address=github().address(state, verifier, _callback()))


def _identity(kept: object) -> Identity:
    """Check the answer from GitHub and fetch who signed in.  Raises: InvalidInput, GitHostUnreachable, Busy."""
    if not isinstance(kept, dict) or not secrets.compare_digest(
        kept["state"].encode(), request.args.get("state", "").encode(errors="replace")
    ):
        raise InvalidInput(use_cases.EXPIRED)
    user_id = auth.person("write").user_id if kept["is_link"] else None
    use_cases.come_back(wired().uow, kept["state"], user_id=user_id, now=utc_now())
    if "error" in request.args:
        raise InvalidInput(DENIED)
    with residence.waiting_for_others():
        return github().identity(request.args.get("code", ""), kept["verifier"], _callback())


def _link(who: Identity) -> Response:
    account = auth.person("write")
    use_cases.link(wired().uow, account, who, session=auth.own_session(), elsewhere=wired().elsewhere, now=utc_now())
    notices.tell(account, notices.GITHUB_LINK)
    return redirect(url_for("pages.show_account", _anchor="github"), 303)


def _sign_in(who: Identity) -> Response:
    services = wired()
    return begin_session(
        use_cases.sign_in(
            services.uow,
            who,
            may_sign_up=is_open(),
            network=network(),
            elsewhere=services.elsewhere,
            now=utc_now(),
            **new_account(),
        )
    )


def _refused(problem: Problem, *, is_link: bool) -> PageAnswer:
    if is_link and auth.viewer():
        return refused("github", problem)
    return again("accounts/sign_in.html", problem)


def _callback() -> str:
    return absolute(url_for("pages.come_back"))


def _require_offer() -> None:
    if not github().is_offered:
        abort(404)
