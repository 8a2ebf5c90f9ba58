"""The schedule, for operators: its entries, their intervals, and running one now."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from app.services.operations import schedule
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.operations.schemas import ChangeEntry
from app.web.operations.shapes import EntryRunShape, ScheduleShape


@api.get("/operator/schedule")
@api.output(ScheduleShape)
@api.doc(operation_id="schedule", tags=["Operator"])
def show_schedule() -> dict[str, Any]:
    """Show what beat sends, and which beat leads.  Needs an operator's token."""
    auth.reading_operator()
    return _schedule()


@api.put("/operator/schedule/<name>")
@api.input(ChangeEntry, arg_name="body")
@api.output(ScheduleShape)
@api.doc(operation_id="changeScheduleEntry", tags=["Operator"])
def change_schedule_entry(body: ChangeEntry, name: str) -> dict[str, Any]:
    """Change how often an entry is sent, or whether it is.  Needs an operator's token."""
    actor, every = str(auth.operator().user_id), body.every_seconds
    schedule.change(
        wired().uow,
        name,
        timedelta(seconds=every) if every else None,
        is_enabled=body.enabled,
        actor=actor,
        now=utc_now(),
        reason=body.reason,
    )
    return _schedule()


@api.post("/operator/schedule/<name>/run")
@api.output(EntryRunShape, status_code=202)
@api.doc(operation_id="runScheduleEntry", tags=["Operator"])
def run_schedule_entry(name: str) -> dict[str, Any]:
    """Run a schedule entry now, in addition to its regular runs.  Needs an operator's token."""
    actor = str(auth.operator().user_id)
    run = schedule.run_now(wired().uow, name, actor=actor, now=utc_now())
    return {"name": name, "sent": run is schedule.AskedRun.SENT}


def _schedule() -> dict[str, Any]:
    leader, entries = schedule.shown(wired().uow, now=utc_now())
    return {"leader": leader, "items": entries}
