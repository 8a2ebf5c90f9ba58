"""Server-sent events of one job."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from uuid import UUID

from flask import Response, current_app, request

from app.services.jobs import read_jobs
from app.services.specifications import documents
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.jobs.job_streams import Live

LIVE = "fairlane-live"

_STREAM: dict[str | int, Any] = {
    200: {
        "description": "Events `state`, `progress`, `final`, each with the job as data",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    429: "This client has too many streams",
    503: "Too many streams; poll the job instead",
}


@api.get("/analyses/<uuid:job_id>/events")
@api.doc(
    operation_id="followAnalysis",
    tags=["Analyses"],
    responses=_STREAM,
)
def follow_analysis(job_id: UUID) -> Response:
    """Follow an analysis live.

    A stream lasts at most 25 seconds; the client reconnects with `Last-Event-ID` and misses nothing.
    """
    viewer = auth.viewer()
    return _follow(job_id, lambda: read_jobs.job(wired().uow, job_id, viewer, wired().policy, now=utc_now()))


@api.get("/specs/<uuid:job_id>/events")
@api.doc(
    operation_id="followSpecification",
    tags=["Specifications"],
    responses=_STREAM,
)
def follow_specification(job_id: UUID) -> Response:
    """Follow a specification live, like an analysis; only its owner may."""
    viewer = auth.person()
    return _follow(job_id, lambda: documents.job(wired().uow, job_id, viewer, wired().policy, now=utc_now()))


def _follow(job_id: UUID, check: Callable[[], object]) -> Response:
    """Stream a job's events.  check: refuses a viewer who may not see the job."""
    live: Live = current_app.extensions[LIVE]
    with ExitStack() as held:
        held.enter_context(live.place(auth.client(), is_visitor=auth.viewer() is None))
        check()
        stream = live.open(job_id, request.headers.get("Last-Event-ID"), auth.reader())
        held.callback(stream.close)
        response = Response(iter(stream), mimetype="text/event-stream")
        response.headers |= {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        response.call_on_close(held.pop_all().close)
    return response
