"""The operator's page of the schedule: its entries, their intervals, and running one now."""

from __future__ import annotations

from datetime import timedelta

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.services.operations import schedule
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.operations.console_words import ENTRIES
from app.web.operations.schemas import EntryForm


@pages.get("/operator/schedule")
def show_schedule() -> str:
    """Every entry, and the beat that leads."""
    account, now = auth.reading_person(), utc_now()
    leader, entries = schedule.shown(wired().uow, now=now)
    return render_template(
        "operations/schedule.html",
        leader=leader,
        entries=entries,
        ENTRIES=ENTRIES,
        may_act=account.is_operator,
        entry_name=request.args.get("entry"),
        outcome=request.args.get("outcome"),
        now=now,
    )


@pages.post("/operator/schedule/<name>")
def change_schedule_entry(name: str) -> Response:
    """Change an entry's interval, or whether it is sent."""
    actor, form = str(auth.operating_person().user_id), read(EntryForm, request.form)
    every = timedelta(minutes=form.minutes) if form.minutes else None
    schedule.change(wired().uow, name, every, is_enabled=form.enabled, actor=actor, now=utc_now(), reason=form.reason)
    return redirect(url_for("pages.show_schedule"), 303)


@pages.post("/operator/schedule/<name>/run")
def run_schedule_entry(name: str) -> Response:
    """Run a schedule entry now."""
    run = schedule.run_now(wired().uow, name, actor=str(auth.operating_person().user_id), now=utc_now())
    return redirect(url_for("pages.show_schedule", entry=name, outcome=run.value), 303)
