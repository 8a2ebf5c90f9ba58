"""Failures by fingerprint, for operators."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.services.operations.failures import read_failures
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.operations import shapes
from app.web.operations.schemas import WINDOWS, FailuresQuery


@api.get("/operator/failures")
@api.input(FailuresQuery, location="query", arg_name="asked")
@api.output(shapes.Failures)
@api.doc(operation_id="failures", tags=["Operator"])
def list_failures(asked: FailuresQuery) -> dict[str, Any]:
    """Group the failed jobs of a window by code and message.  Needs an operator's token."""
    auth.reading_operator()
    now = utc_now()
    found = asdict(read_failures(wired().uow, since=now - WINDOWS[asked.window], until=now))
    return {**found, "items": found.pop("groups")}
