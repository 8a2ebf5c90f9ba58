"""The first page, and the form on it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from app.errors import Busy, GitHostUnreachable, InvalidInput, NotFound, Problem, QuotaExceeded, TooManyRequests
from app.services.accounts import usage
from app.services.analyses import existing, submit
from app.services.jobs.cancel import cancel
from app.services.jobs.read_dashboard import read_dashboard
from app.store.accounts.users import Account
from app.web.accounts.sign_in_pages import MINE, is_open
from app.web.analyses.pasted_addresses import plain_address
from app.web.analyses.submission import wanted
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.exchanges import about, noted
from app.web.core.pages import pages, read
from app.web.core.schemas import SubmitForm
from app.web.jobs.job_json import links
from app.web.site.examples import examples, folder_to_fill, further_local

REMEMBERED = 50  # jobs of a visitor who is not signed in; the cookie must stay small
#: Problems with the submission, as opposed to the service: the form keeps the typed text.
TOLD_BESIDE_THE_FIELD = (InvalidInput, NotFound, QuotaExceeded, GitHostUnreachable, Busy, TooManyRequests)


@pages.get("/")
def home() -> str:
    """The first page, with one field for a repository."""
    return _home(request.args.get("repository", ""))


@pages.get("/now")
def show_dashboard() -> str:
    """The part of a person's first page that its script reads again."""
    return render_template("analyses/home_now.html", **_under_way(auth.person()))


@pages.post("/analyses")
def submit_form() -> Response | tuple[str, int, dict[str, str]]:
    """Submit, then show the job at its own address."""
    try:
        form = pasted(read(SubmitForm, request.form))
        account = auth.somebody("write")
        item = wanted(form.analysis(), account)
        answer = submit.submit(wired().uow, account.user_id, item, wired().policy)
    except TOLD_BESIDE_THE_FIELD as problem:
        page, headers = _home(request.form.get("repository", ""), problem), {}
        if problem.retry_after is not None:
            headers["Retry-After"] = str(problem.retry_after)
        return page, noted(problem), headers
    about(answer.job.id)
    if account.is_anonymous:
        session[MINE] = [str(answer.job.id), *session.get(MINE, [])][:REMEMBERED]
    return redirect(links(answer.job.service, answer.job.id)["page"], 303)


@pages.post("/analyses/<uuid:job_id>/cancel")
def cancel_form(job_id: UUID) -> Response:
    """Cancel, then show the job."""
    cancel(wired().uow, job_id, auth.somebody("write"), wired().policy, now=utc_now())
    return redirect(url_for("pages.show_job", job_id=job_id), 303)


@pages.post("/check")
def check_form() -> str | tuple[str, int, dict[str, str]]:
    """Say what a submission would do and cost, and submit nothing."""
    try:
        form = pasted(read(SubmitForm, request.form))
        foreseen = _foreseen(form, auth.somebody("write"))
    except TOLD_BESIDE_THE_FIELD as problem:
        headers = {} if problem.retry_after is None else {"Retry-After": str(problem.retry_after)}
        return _home(request.form.get("repository", ""), problem), noted(problem), headers
    return _home(form.repository, foreseen=foreseen)


def pasted(form: SubmitForm) -> SubmitForm:
    """Replace a pasted address by one that the API reads.  Raises: InvalidInput."""
    hosts = wired().settings.allowed_git_hosts
    return form.model_copy(update={"repository": plain_address(form.repository, hosts)})


def _foreseen(form: SubmitForm, account: Account) -> dict[str, Any]:
    """The existing analysis of the commit, and the units that the account or visitor has left."""
    services = wired()
    item = wanted(form.analysis(), account)
    return {
        "repository": item.repository,
        "typed": form.repository,
        "commit": item.commit,
        "ref": item.ref or form.ref,
        "existing": existing.of_commit(services.uow, account, item.repository, item.commit, services.policy),
        "branches": services.branches(item.repository),
        "usage": usage.usage(services.uow, account, now=utc_now()),
    }


def _under_way(account: Account) -> dict[str, Any]:
    services, now = wired(), utc_now()
    return {
        "board": read_dashboard(services.uow, account.user_id, services.policy, now=now),
        "usage": usage.usage(services.uow, account, now=now),
        "now": now,
    }


def _home(typed: str, problem: Problem | None = None, foreseen: dict[str, Any] | None = None) -> str:
    account, services = auth.viewer(), wired()
    more: dict[str, Any] = {}
    if account:
        more = _under_way(account)
    return render_template(
        "analyses/home.html",
        typed=typed,
        problem=problem,
        foreseen=foreseen,
        examples=examples(services.settings),
        # visitors are shown a few, as all that an installation has is for who is known to it
        further=further_local(services.settings) if account else [],
        # the user of this machine may see its folders
        folder=folder_to_fill(services.settings) if account and account.is_operator else None,
        may_sign_up=is_open(),
        may_submit=account is not None or services.settings.allow_anonymous,
        hosts=services.settings.allowed_git_hosts,
        **more,
    )
