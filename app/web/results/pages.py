"""A comparison of two inventories, and the choice of the other one."""

from __future__ import annotations

from uuid import UUID

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.services.jobs import read_jobs
from app.services.results import other_commits
from app.services.results.read_differences import read_differences
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.core.schemas import ChangesQuery, OtherQuery
from app.web.limits.read_costs import heavy
from app.web.results.comparison_sheet import changes, comparison


@pages.get("/analyses/<uuid:job_id>/compare/<uuid:other_id>")
def show_comparison(job_id: UUID, other_id: UUID) -> str:
    """The changes of the tests from one analysis to the other."""
    query, viewer, services, now = read(ChangesQuery, request.args), auth.viewer(), wired(), utc_now()
    with heavy(job_id, other_id):
        found = read_differences(services.uow, job_id, other_id, viewer, comparison, now=now)
        sheet = changes(found, query)
    before, after = (read_jobs.job(services.uow, one, viewer, services.policy, now=now) for one in (job_id, other_id))
    return render_template("results/comparison.html", before=before, after=after, found=found, query=query, sheet=sheet)


@pages.get("/analyses/<uuid:job_id>/compare")
def choose_other(job_id: UUID) -> str | Response:
    """The commits that this one can be compared with; directly the comparison if only one matches."""
    query, viewer, services, now = read(OtherQuery, request.args), auth.viewer(), wired(), utc_now()
    others = other_commits.newest(services.uow, job_id, viewer, prefix=query.commit.strip(), now=now)
    if query.commit.strip() and len(others) == 1:
        pair = (others[0].job_id, job_id) if others[0].is_older else (job_id, others[0].job_id)
        return redirect(url_for("pages.show_comparison", job_id=pair[0], other_id=pair[1]), 303)
    job = read_jobs.job(services.uow, job_id, viewer, services.policy, now=now)
    return render_template("results/compare.html", job=job, others=others, typed=query.commit.strip())
