"""The account's pages: quota, history, tokens."""

from __future__ import annotations

from uuid import UUID

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.services.accounts import plans, tokens, usage
from app.services.jobs import read_jobs
from app.web.accounts import notices
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.core.schemas import PageQuery, TokenForm


@pages.get("/usage")
def show_usage() -> str:
    """Used, reserved and free units; for a visitor, by address."""
    account = auth.somebody()
    sums = usage.usage(wired().uow, account, now=utc_now())
    return render_template(
        "accounts/usage.html",
        usage=sums,
        reservations=usage.reservations(wired().uow, account),
        is_person=not account.is_anonymous,
    )


@pages.get("/plans")
def show_plans() -> str:
    """Every plan; the viewer's own is marked."""
    viewer = auth.viewer()
    offered = plans.offered(wired().uow, wired().policy)
    return render_template("accounts/plans.html", offered=offered, mine=viewer.tier if viewer else None)


@pages.get("/history")
def show_history() -> str:
    """The account's requests, newest first."""
    account, page = auth.person(), read(PageQuery, request.args)
    jobs, following = read_jobs.history(
        wired().uow, account.user_id, wired().policy, before=page.cursor, limit=page.limit, now=utc_now()
    )
    return render_template("jobs/history.html", jobs=jobs, next=following, first=page.cursor is None)


@pages.get("/tokens")
def show_tokens() -> str:
    """The account's tokens."""
    return _tokens()


@pages.post("/tokens")
def add_token() -> str:
    """Create one and show it; this is the only time, so there is no redirect."""
    account, form = auth.person_with_proof(), read(TokenForm, request.form)
    scopes = ("read", "write") if form.may_write else ("read",)
    own, now = auth.own_session(), utc_now()
    token = tokens.add_token(wired().uow, account.user_id, scopes=scopes, name=form.name, session=own, now=now)
    notices.tell(account, notices.NEW_TOKEN)
    return _tokens(token)


@pages.post("/tokens/<uuid:token_id>/revoke")
def revoke_token(token_id: UUID) -> Response:
    """Revoke a token."""
    tokens.revoke_token(wired().uow, auth.person("write").user_id, token_id, now=utc_now())
    return redirect(url_for("pages.show_tokens"), 303)


def _tokens(made: tokens.Token | None = None) -> str:
    living = tokens.tokens_of(wired().uow, auth.person().user_id)
    return render_template("accounts/tokens.html", tokens=living, made=made, fresh=auth.is_fresh())
