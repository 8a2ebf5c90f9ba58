"""The first page, and the form on it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from app.errors import Busy, GitHostUnreachable, InvalidInput, NotFound, Problem, QuotaExceeded, TooManyRequests
from app.services.accounts import usage
from app.services.analyses import submit
from app.services.jobs import read_jobs
from app.services.jobs.cancel import cancel
from app.web import auth
from app.web.context import utc_now, wired
from app.web.job_json import links
from app.web.pages import pages, read
from app.web.pages.examples import examples, folder_to_fill
from app.web.schemas import SubmitForm
from app.web.submission import wanted

RECENT = 5
REMEMBERED = 50  # jobs of a visitor who is not signed in; the cookie must stay small
MINE = "mine"
#: Problems with the submission, as opposed to the service: the form keeps the typed text.
TOLD_BESIDE_THE_FIELD = (InvalidInput, NotFound, QuotaExceeded, GitHostUnreachable, Busy, TooManyRequests)


@pages.get("/")
def home() -> str:
    """One field."""
    return _home(request.args.get("repository", ""))


@pages.post("/analyses")
def submit_form() -> Response | tuple[str, int, dict[str, str]]:
    """Submit, then show the job at its own address."""
    try:
        asked = read(SubmitForm, request.form)
        account = auth.somebody("write")
        item = wanted(asked.analysis(), account)
        answer = submit.submit(wired().uow, account.user_id, item, wired().policy)
    except TOLD_BESIDE_THE_FIELD as problem:
        page, headers = _home(request.form.get("repository", ""), problem), {}
        if problem.retry_after is not None:
            headers["Retry-After"] = str(problem.retry_after)
        return page, problem.status, headers
    if account.is_anonymous:
        session[MINE] = [str(answer.job.id), *session.get(MINE, [])][:REMEMBERED]
    return redirect(links(answer.job.service, answer.job.id)["page"], 303)


@pages.post("/analyses/<uuid:job_id>/cancel")
def cancel_form(job_id: UUID) -> Response:
    """Cancel, then show the job."""
    cancel(wired().uow, job_id, auth.somebody("write"), wired().policy, now=utc_now())
    return redirect(url_for("pages.show_job", job_id=job_id), 303)


def _home(typed: str, problem: Problem | None = None) -> str:
    account, services = auth.viewer(), wired()
    more: dict[str, Any] = {}
    if account:
        more["recent"], _ = read_jobs.history(
            services.uow, account.user_id, services.policy, limit=RECENT, now=utc_now()
        )
        more["usage"] = usage.usage(services.uow, account, now=utc_now())
    return render_template(
        "home.html",
        typed=typed,
        problem=problem,
        examples=examples(services.settings),
        # the user of this machine may see its folders
        folder=folder_to_fill(services.settings) if account and account.is_operator else None,
        may_submit=account is not None or services.settings.allow_anonymous,
        hosts=services.settings.allowed_git_hosts,
        **more,
    )
