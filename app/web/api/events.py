"""Server-sent events of one analysis."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import Response, current_app, request

from app.services import browse
from app.web import auth
from app.web.api import api
from app.web.context import utc_now, wired
from app.web.live import Live

LIVE = "fairlane-live"

_STREAM: dict[str | int, Any] = {
    200: {
        "description": "Events `state`, `progress`, `final`, each with the job as data",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    503: "Too many streams; poll the analysis instead",
}


@api.get("/analyses/<uuid:job_id>/events")
@api.doc(
    operation_id="followAnalysis",
    tags=["Analyses"],
    responses=_STREAM,
)
def follow_analysis(job_id: UUID) -> Response:
    """Follow an analysis live.

    A stream lasts 25 seconds at most; the client comes back with `Last-Event-ID` and misses nothing.
    """
    browse.job(wired().uow, job_id, auth.viewer(), wired().policy, now=utc_now())
    live: Live = current_app.extensions[LIVE]
    stream = live.open(job_id, request.headers.get("Last-Event-ID"))
    response = Response(iter(stream), mimetype="text/event-stream")
    response.headers |= {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    response.call_on_close(stream.close)
    return response
