"""One job: live while it is under way, then its result."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import render_template, request, session

from app.domain.lifecycle import Status
from app.services.jobs import visibility
from app.services.results import other_commits
from app.web import auth
from app.web.context import utc_now, wired
from app.web.job_json import links
from app.web.pages import pages, read
from app.web.pages.specify import box
from app.web.pages.submit import MINE
from app.web.rendered_results import rendered_tests
from app.web.schemas import SheetQuery


@pages.get("/analyses/<uuid:job_id>")
def show_job(job_id: UUID) -> str:
    """The current state of the job."""
    uow, policy, viewer = wired().uow, wired().policy, auth.viewer()
    job, previous = other_commits.with_previous(uow, job_id, viewer, policy, asker=auth.asker(), now=utc_now())
    more: dict[str, Any] = {}
    if job.status is Status.COMPLETED:
        asked = read(SheetQuery, request.args)
        more = {"tests": rendered_tests(job, asked), "previous": previous, "box": box(job)}
    shown = {"job": job, "links": links(job.service, job.id), "final": job.is_final}
    return render_template("job.html", may_cancel=not job.is_final and _may_cancel(job_id), **shown, **more)


def _may_cancel(job_id: UUID) -> bool:
    return str(job_id) in session.get(MINE, []) or visibility.asked_for(wired().uow, job_id, auth.viewer())
