"""The page of one's own account: password, sessions, a copy of the data, deletion."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import UUID

from flask import Response, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response as Redirect

from app.errors import Busy, Conflict, InvalidInput, Message, Problem, TooManyRequests
from app.services.accounts import confirmations, export, forget, github, passkeys, password_resets, passwords, sessions
from app.services.accounts.password_hashes import LONGEST, SHORTEST
from app.web.accounts import notices
from app.web.accounts.mails import mails
from app.web.accounts.passkey_site import possible_site
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.exchanges import noted
from app.web.core.pages import PageAnswer, pages
from app.web.limits.read_costs import PER_UNIT, exported

#: Problems with what was typed, shown beside the form.
TOLD_ON_THE_FORM = (InvalidInput, Conflict, TooManyRequests, Busy)


@pages.get("/account")
def show_account() -> str:
    """Show the account's settings, ways in and sessions."""
    return _page(changed="changed" in request.args)


@pages.post("/account/password")
def change_password() -> Redirect | PageAnswer:
    """Change the password; all other sessions end."""
    account, typed = auth.person("write"), request.form
    try:
        secret = passwords.change(
            wired().uow,
            account,
            typed.get("password", ""),
            current=typed.get("current", ""),
            session=auth.own_session(),
            shuts_out="shut_out" in typed,
            now=utc_now(),
        )
    except TOLD_ON_THE_FORM as problem:
        return refused("password", problem)
    auth.renew_session(secret)
    notices.tell(account, notices.PASSWORD_CHANGE)
    return redirect(url_for("pages.show_account", changed=""), 303)


@pages.post("/account/sessions/<uuid:session_id>/end")
def end_session(session_id: UUID) -> Redirect:
    """Sign one browser out."""
    sessions.end(wired().uow, auth.person("write").user_id, session_id)
    return redirect(url_for("pages.show_account"), 303)


@pages.get("/account/export.json")
def export_account() -> Response:
    """All that is stored about the account, as a file."""
    return _copy(auth.person().user_id)


@pages.post("/account/delete")
def delete_account() -> Redirect | PageAnswer:
    """Delete the account of somebody who typed its address, and its password if it has one."""
    account, typed = auth.person("write"), request.form
    try:
        if typed.get("email", "").strip().lower() != (account.email or "").lower():
            message = Message("Type the e-mail address of this account to delete it.")
            raise InvalidInput(message, errors=[{"pointer": "/email", "detail": message}])
        own, now = auth.own_session(), utc_now()
        confirmations.require(wired().uow, account.user_id, typed.get("current", ""), session=own, now=now)
    except TOLD_ON_THE_FORM as problem:
        return refused("delete", problem)
    forget.forget(wired().uow, account.user_id, actor=str(account.user_id), now=utc_now())
    session.clear()
    return redirect(url_for("pages.home"), 303)


def refused(form: str, problem: Problem) -> PageAnswer:
    """The page with a problem beside one of its forms."""
    headers = {} if problem.retry_after is None else {"Retry-After": str(problem.retry_after)}
    return _page(form, problem), noted(problem), headers


def _page(form: str = "", problem: Problem | None = None, *, changed: bool = False) -> str:
    services, person = wired(), auth.person()
    offers_github = services.settings.github_client_id is not None
    return render_template(
        "accounts/account.html",
        sessions=sessions.sessions_of(
            services.uow,
            person.user_id,
            auth.own_session(),
            idle=services.settings.session_idle_timeout,
            now=utc_now(),
        ),
        has_password=passwords.has_password(services.uow, person.user_id),
        passkeys=passkeys.passkeys_of(services.uow, person.user_id),
        github=github.link_of(services.uow, person.user_id) if offers_github else None,
        offers_github=offers_github,
        verified_at=password_resets.verified_at(services.uow, person.user_id),
        are_mailed=mails().are_sent,
        sent="sent" in request.args,
        passkeys_work=possible_site() is not None,
        form=form,
        problem=problem,
        changed=changed,
        fresh=auth.is_fresh(),
        shortest=SHORTEST,
        longest=LONGEST,
    )


def _copy(user_id: UUID) -> Response:
    """The file; it holds a place for exports until it is sent.  Raises: TooManyRequests, Busy."""
    uow, client = wired().uow, auth.client()  # which the generator could not ask for once the request is over
    text, leave = exported(_written(export.parts(uow, user_id)), client, export.size(uow, user_id) // PER_UNIT)
    response = Response(text, mimetype="application/json")
    response.call_on_close(leave)
    response.headers["Content-Disposition"] = 'attachment; filename="fairlane-account.json"'
    return response


def _written(parts: Iterator[tuple[str, Iterator[str]]]) -> Iterator[str]:
    """One object with an array for each part, a row on each line."""
    opening = "{"
    for part, rows in parts:
        first = next(rows, None)
        yield f"{opening}\n{json.dumps(part)}: [" + ("" if first is None else f"\n{first}")
        for row in rows:
            yield f",\n{row}"
        yield "]"
        opening = ","
    yield "\n}\n"
