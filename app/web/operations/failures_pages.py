"""The operator's page of failures: what fails, how often, and for whom."""

from __future__ import annotations

from flask import render_template, request

from app.services.operations.failures import read_failures
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.jobs.job_json import links
from app.web.operations.console_words import COLUMNS
from app.web.operations.schemas import WINDOWS, FailuresQuery


@pages.get("/operator/failures")
def show_failures() -> str:
    """Failed jobs of a window by fingerprint, the most frequent first."""
    auth.reading_person()
    query, now = read(FailuresQuery, request.args), utc_now()
    return render_template(
        "operations/failures.html",
        found=read_failures(wired().uow, since=now - WINDOWS[query.window], until=now),
        query=query,
        windows=WINDOWS,
        links_of=links,
        COLUMNS=COLUMNS,
        now=now,
    )
