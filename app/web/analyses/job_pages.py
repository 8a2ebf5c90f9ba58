"""One job: live while it is under way, then its result."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import render_template, request, session

from app.domain.lifecycle import Status
from app.services.jobs import read_jobs, visibility
from app.services.results import other_commits
from app.services.results.read_test_history import TestPlace, read_test_history
from app.web.accounts.sign_in_pages import MINE
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.core.schemas import SheetQuery, TestQuery
from app.web.jobs.job_json import links
from app.web.limits.read_costs import heavy
from app.web.results.rendered_results import rendered_tests
from app.web.specifications.request_pages import box


@pages.get("/analyses/<uuid:job_id>")
def show_job(job_id: UUID) -> str:
    """The current state of the job."""
    uow, policy, viewer = wired().uow, wired().policy, auth.viewer()
    job, previous = other_commits.with_previous(uow, job_id, viewer, policy, asker=auth.asker(), now=utc_now())
    more: dict[str, Any]
    if job.status is Status.COMPLETED:
        query = read(SheetQuery, request.args)
        more = {"tests": rendered_tests(job, query), "previous": previous, "box": box(job)}
    else:
        more = {"events": read_jobs.timeline(uow, job_id, viewer, asker=auth.asker())}
    shown = {"job": job, "links": links(job.service, job.id), "final": job.is_final}
    return render_template("jobs/job.html", may_cancel=not job.is_final and _may_cancel(job_id), **shown, **more)


@pages.get("/analyses/<uuid:job_id>/timeline")
def show_timeline(job_id: UUID) -> str:
    """Everything that happened to the job."""
    services, viewer = wired(), auth.viewer()
    job = read_jobs.job(services.uow, job_id, viewer, services.policy, now=utc_now())
    events = read_jobs.timeline(services.uow, job_id, viewer, asker=auth.asker())
    return render_template("jobs/timeline.html", job=job, events=events)


@pages.get("/analyses/<uuid:job_id>/test")
def show_test(job_id: UUID) -> str:
    """One test of the result, and its history in the repository."""
    query, viewer, services, now = read(TestQuery, request.args), auth.viewer(), wired(), utc_now()
    place = TestPlace(query.file, tuple(query.suite), query.name)
    with heavy(job_id):
        found = read_test_history(services.uow, job_id, viewer, place, now=now)
    job = read_jobs.job(services.uow, job_id, viewer, services.policy, now=now)
    return render_template("results/test.html", job=job, place=place, found=found)


def _may_cancel(job_id: UUID) -> bool:
    return str(job_id) in session.get(MINE, []) or visibility.asked_for(wired().uow, job_id, auth.viewer())
