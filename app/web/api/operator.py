"""For operators: what is wrong with the data."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from flask import g

from app.errors import Forbidden, Unauthenticated
from app.services.audit import BROKEN, UNKNOWN, audit
from app.web import answers
from app.web.api import api
from app.web.context import utc_now, wired
from app.web.schemas import AuditQuery

#: A question that takes longer is left to `fairlane audit`: a request must end before its client has gone.
WITHIN = timedelta(seconds=10)


@api.get("/operator/audit")
@api.input(AuditQuery, location="query", arg_name="asked")
@api.output(answers.Audit)
@api.doc(operation_id="audit", tags=["Operator"])
def show_audit(asked: AuditQuery) -> dict[str, Any]:
    """Check every invariant on the live database: the rows that break it.  Needs an operator's token."""
    _operator()
    now = utc_now()
    found = audit(wired().uow, since=asked.since, most=asked.limit, within=WITHIN)
    statuses = [finding.status for finding in found]
    return {
        "at": now,
        "broken": statuses.count(BROKEN),
        "unknown": statuses.count(UNKNOWN),
        "items": [asdict(finding) for finding in found],
    }


def _operator() -> None:
    """Raises: Unauthenticated, Forbidden.  A session of an operator is not enough: it reads, and no more."""
    if g.caller.account is None:
        raise Unauthenticated("Send `Authorization: Bearer fl_…` of an operator")
    if not (g.caller.account.is_operator and "operator" in g.caller.scopes):
        raise Forbidden("This needs an operator's token with the scope 'operator'")
