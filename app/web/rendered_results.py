"""The tests of a result as part of its page.  They never change, so a process renders each page of them once."""

from __future__ import annotations

from flask import render_template
from markupsafe import Markup

from app.domain.jobs import Job
from app.services.results.read_sheet import read_sheet
from app.web import auth
from app.web.context import utc_now, wired
from app.web.languages import spoken
from app.web.read_costs import outlined, reads
from app.web.result_counts import ResultCounts
from app.web.schemas import SheetQuery


def rendered_tests(job: Job, asked: SheetQuery) -> Markup:
    """What could not be read, the filters, the charts and one sheet of tests.

    job: a completed one that the viewer may see; nothing here depends on who that is.
    Raises: NotFound, Conflict if it was pruned meanwhile; TooManyRequests, Busy as read_costs.large.
    """
    narrowed = asked.narrowed()
    key = (job.id, tuple(narrowed.items()), asked.page, spoken())
    found = reads().sheets.get(key)
    if found is None:
        found = _rendered(job, asked, narrowed)
        reads().sheets.keep(key, found)
    return found


def _rendered(job: Job, asked: SheetQuery, narrowed: dict[str, str]) -> Markup:
    viewer, wanted = auth.viewer(), asked.filter()
    outline = outlined(job.id, viewer, wanted)
    sheet = read_sheet(wired().uow, job.id, viewer, wanted, outline, number=asked.page, now=utc_now())
    page = render_template(
        "result_tests.html",
        job=job,
        sheet=sheet,
        facets=ResultCounts.of_all(sheet.tallies),
        found=ResultCounts.matching(sheet.tallies),
        narrowed=narrowed,
    )
    return Markup(page)  # noqa: S704 - it was escaped when it was rendered
