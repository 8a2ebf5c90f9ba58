"""The operator's page of jobs: those of all users, by what is looked for."""

from __future__ import annotations

from flask import render_template, request

from app.domain.plans import Tier
from app.domain.queues import JOB_QUEUES
from app.services.accounts import accounts
from app.services.operations.find_jobs import SEARCHED, find_jobs
from app.store.operations.job_search import JobFilter
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.operations.schemas import JobsQuery


@pages.get("/operator/jobs")
def show_jobs() -> str:
    """Newest requests first.  Raises: NotFound if nobody has the e-mail address."""
    auth.reading_person()
    query, services = read(JobsQuery, request.args), wired()
    user_id = accounts.find_person(services.uow, query.user).user_id if query.user else None
    wanted = JobFilter(query.state, query.service, query.queue, query.tier, user_id, query.repository, query.error)
    return render_template(
        "operations/jobs.html",
        found=find_jobs(services.uow, wanted, services.policy, before=query.cursor, now=utc_now()),
        query=query,
        narrowed=query.narrowed(),
        queues=JOB_QUEUES,
        tiers=list(Tier),
        searched=SEARCHED,
    )
