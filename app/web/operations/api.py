"""The operators' view: faults in the data, the users who have work, and who waits why."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from app.domain.queues import JOB_QUEUES
from app.services.fairness import change_limits, report_waits, tenants
from app.services.operations import nodes, queues
from app.services.operations.audit import BROKEN, UNKNOWN, audit
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.operations.schemas import AuditQuery, FairnessQuery, TenantsQuery
from app.web.operations.shapes import AuditShape, FairnessShape, NodesShape, QueuesShape, TenantsShape, TiersShape

#: Slower queries are left to `fairlane audit`, because a request must end before its client gives up.
WITHIN = timedelta(seconds=10)
DAY = timedelta(days=1)
#: A second of processor time that the other requests share; `fairlane fairness` reads more.
MOST_EVENTS = 60_000


@api.get("/operator/audit")
@api.input(AuditQuery, location="query", arg_name="query")
@api.output(AuditShape)
@api.doc(operation_id="audit", tags=["Operator"])
def show_audit(query: AuditQuery) -> dict[str, Any]:
    """Check every invariant on the live database and list the rows that violate it.  Needs an operator's token."""
    auth.reading_operator()
    now = utc_now()
    found = audit(wired().uow, since=query.since, most=query.limit, within=WITHIN)
    statuses = [finding.status for finding in found]
    return {
        "at": now,
        "broken": statuses.count(BROKEN),
        "unknown": statuses.count(UNKNOWN),
        "items": found,
    }


@api.get("/operator/tenants")
@api.input(TenantsQuery, location="query", arg_name="query")
@api.output(TenantsShape)
@api.doc(operation_id="tenants", tags=["Operator"])
def show_tenants(query: TenantsQuery) -> dict[str, Any]:
    """List the users who have jobs waiting or running.  Needs an operator's token."""
    auth.reading_operator()
    return {"items": tenants.tenants(wired().uow, wired().policy, most=query.limit)}


@api.get("/operator/fairness")
@api.input(FairnessQuery, location="query", arg_name="query")
@api.output(FairnessShape)
@api.doc(operation_id="fairness", tags=["Operator"])
def show_fairness(query: FairnessQuery) -> report_waits.Report:
    """Report who waited how long and why.  Needs an operator's token."""
    auth.reading_operator()
    now = utc_now()
    return report_waits.report(
        wired().uow,
        wired().policy,
        by=query.by,
        since=query.since or now - DAY,
        until=now,
        workers={queue: wired().settings.workers(queue) for queue in JOB_QUEUES},
        most=MOST_EVENTS,
    )


@api.get("/operator/queues")
@api.output(QueuesShape)
@api.doc(operation_id="queues", tags=["Operator"])
def show_queues() -> dict[str, Any]:
    """Show the messages of each queue.  Needs an operator's token."""
    auth.reading_operator()
    return {"items": queues.states(wired().uow)}


@api.get("/operator/workers")
@api.output(NodesShape)
@api.doc(operation_id="workers", tags=["Operator"])
def show_workers() -> dict[str, Any]:
    """Show the Celery nodes and the jobs that they run.  Needs an operator's token."""
    auth.reading_operator()
    return {"items": nodes.states(wired().uow)}


@api.get("/operator/tiers")
@api.output(TiersShape)
@api.doc(operation_id="tiers", tags=["Operator"])
def show_tiers() -> dict[str, Any]:
    """Show how many jobs of a user run at once, by tier.  Needs an operator's token."""
    auth.reading_operator()
    return {"items": change_limits.tier_limits(wired().uow, wired().policy)}
