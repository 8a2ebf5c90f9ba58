"""The tests that an analysis found, page by page or as a file, and its timeline."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import Response, request
from werkzeug.exceptions import NotAcceptable

from app.services.jobs import read_jobs
from app.services.results import read_files, read_tests
from app.services.results.read_differences import read_differences
from app.services.results.read_files import FilePage
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.core.schemas import CompareQuery, FilesQuery, TestsQuery
from app.web.jobs.shapes import TimelineShape
from app.web.limits.read_costs import heavy, outlined
from app.web.results import exports
from app.web.results.comparison_sheet import comparison
from app.web.results.shapes import ComparisonShape, FilePageShape, TestPageShape

_EXPORTS: dict[str | int, Any] = {
    200: {"content": {form.media_type: {"schema": {"type": "string"}} for form in exports.FORMS.values()}},
    406: "None of the offered media types is acceptable",
    409: "The job has not completed",
}


@api.get("/analyses/<uuid:job_id>/tests")
@api.input(TestsQuery, location="query", arg_name="query")
@api.output(TestPageShape)
@api.doc(operation_id="listTests", tags=["Results"], responses=_EXPORTS)
def list_tests(job_id: UUID, query: TestsQuery) -> dict[str, Any] | Response:
    """The tests of a completed analysis, by path and line.

    JSON comes in pages; CSV, JSON lines, Markdown and JUnit XML (`Accept`, or `format`) contain all rows, or `limit`.
    """
    services, viewer = wired(), auth.viewer()
    chosen = _format(query)
    if chosen in exports.FORMS:
        return exports.respond(exports.FORMS[chosen], job_id, viewer, query)
    wanted, limit = query.filter(), query.limit or read_tests.PAGE
    outline = outlined(job_id, viewer, wanted)
    page = read_tests.page(
        services.uow, job_id, viewer, wanted, cursor=query.cursor, limit=limit, within=outline, with_checks=True,
        now=utc_now(),
    )  # fmt: skip
    return {
        "items": [{**exports.test_json(test), **(test.checked or {})} for test in page.tests],
        "next": page.next,
        "total": outline.total,
    }


@api.get("/analyses/<uuid:job_id>/files")
@api.input(FilesQuery, location="query", arg_name="query")
@api.output(FilePageShape)
@api.doc(operation_id="listFiles", tags=["Results"], responses={409: "The job has not completed"})
def list_files(job_id: UUID, query: FilesQuery) -> FilePage:
    """The files of a completed analysis: those with tests, with what they import and call, and unreadable ones."""
    with heavy(job_id):
        return read_files.files(wired().uow, job_id, auth.viewer(), **query.model_dump(), now=utc_now())


@api.get("/analyses/<uuid:job_id>/compare/<uuid:other_id>")
@api.input(CompareQuery, location="query", arg_name="query")
@api.output(ComparisonShape)
@api.doc(operation_id="compareAnalyses", tags=["Results"], responses={409: "One of the two has not completed"})
def compare_analyses(job_id: UUID, other_id: UUID, query: CompareQuery) -> dict[str, Any]:
    """The changes of the tests from one completed analysis to the other; moves and renames are followed."""
    with heavy(job_id, other_id):
        found = read_differences(wired().uow, job_id, other_id, auth.viewer(), comparison, now=utc_now())
        return found.document(query.limit)


@api.get("/analyses/<uuid:job_id>/timeline")
@api.output(TimelineShape)
@api.doc(operation_id="getTimeline", tags=["Analyses"])
def show_timeline(job_id: UUID) -> dict[str, Any]:
    """Every transition, attempt, snooze and lease of an analysis, with its time."""
    events = read_jobs.timeline(wired().uow, job_id, auth.viewer(), asker=auth.asker())
    return {"items": events}


def _format(query: TestsQuery) -> str:
    """The format by the query, or else by the Accept header, JSON first.  Raises: NotAcceptable."""
    if query.format is not None:
        return query.format
    offered = {"application/json": "json"} | {form.media_type: name for name, form in exports.FORMS.items()}
    offered |= {"text/xml": "junit"}
    if not request.accept_mimetypes:
        return "json"
    best = request.accept_mimetypes.best_match(list(offered), default="")
    if not best:
        raise NotAcceptable(f"The offered types are {', '.join(offered)}.")
    return offered[best]
