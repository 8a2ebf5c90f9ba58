"""The operator's page of failures: what fails, how often, and for whom."""

from __future__ import annotations

from flask import render_template, request

from app.services.operations.failures import read_failures
from app.web import auth
from app.web.console_words import COLUMNS
from app.web.context import utc_now, wired
from app.web.job_json import links
from app.web.operator_schemas import WINDOWS, FailuresQuery
from app.web.pages import pages, read


@pages.get("/operator/failures")
def show_failures() -> str:
    """Failed jobs of a window by fingerprint, the most frequent first."""
    auth.reading_person()
    asked, now = read(FailuresQuery, request.args), utc_now()
    return render_template(
        "operator_failures.html",
        found=read_failures(wired().uow, since=now - WINDOWS[asked.window], until=now),
        asked=asked,
        windows=WINDOWS,
        links_of=links,
        COLUMNS=COLUMNS,
        now=now,
    )
