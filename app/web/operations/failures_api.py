"""Failures by fingerprint, for operators."""

from __future__ import annotations

from app.services.operations.failures import Failures, read_failures
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.operations.schemas import WINDOWS, FailuresQuery
from app.web.operations.shapes import FailuresShape


@api.get("/operator/failures")
@api.input(FailuresQuery, location="query", arg_name="query")
@api.output(FailuresShape)
@api.doc(operation_id="failures", tags=["Operator"])
def list_failures(query: FailuresQuery) -> Failures:
    """Group the failed jobs of a window by code and message.  Needs an operator's token."""
    auth.reading_operator()
    now = utc_now()
    return read_failures(wired().uow, since=now - WINDOWS[query.window], until=now)
