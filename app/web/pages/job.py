"""One job: live while it is under way, then its result."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import render_template, request, session

from app.domain.lifecycle import Status
from app.services.jobs import read_jobs, visibility
from app.services.results import other_commits
from app.services.results.read_sheet import read_sheet
from app.web import auth
from app.web.context import utc_now, wired
from app.web.job_json import links
from app.web.pages import pages, read
from app.web.pages.specify import box
from app.web.pages.submit import MINE
from app.web.read_costs import outlined
from app.web.result_counts import ResultCounts
from app.web.schemas import SheetQuery


@pages.get("/analyses/<uuid:job_id>")
def show_job(job_id: UUID) -> str:
    """The current state of the job."""
    job = read_jobs.job(wired().uow, job_id, auth.viewer(), wired().policy, asker=auth.asker(), now=utc_now())
    more = _result(job_id) | {"box": box(job)} if job.status is Status.COMPLETED else {}
    shown = {"job": job, "links": links(job.service, job.id), "final": job.is_final}
    return render_template("job.html", may_cancel=not job.is_final and _may_cancel(job_id), **shown, **more)


def _result(job_id: UUID) -> dict[str, Any]:
    asked, viewer, uow, now = read(SheetQuery, request.args), auth.viewer(), wired().uow, utc_now()
    wanted = asked.filter()
    outline = outlined(job_id, viewer, wanted)
    sheet = read_sheet(uow, job_id, viewer, wanted, outline, number=asked.page, now=now)
    return {
        "sheet": sheet,
        "facets": ResultCounts.of_all(sheet.tallies),
        "found": ResultCounts.matching(sheet.tallies),
        "narrowed": asked.narrowed(),
        "previous": other_commits.previous(uow, job_id, viewer, now=now),
    }


def _may_cancel(job_id: UUID) -> bool:
    return str(job_id) in session.get(MINE, []) or visibility.asked_for(wired().uow, job_id, auth.viewer())
