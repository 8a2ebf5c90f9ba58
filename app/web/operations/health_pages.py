"""The operator's page of health: what dead processes left behind, and how the database is."""

from __future__ import annotations

from flask import redirect, render_template, url_for
from werkzeug.wrappers import Response

from app.services.operations.database_health import database_health
from app.services.operations.sweep import sweep, sweep_now
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages
from app.web.operations.console_words import LEFT_BEHIND

MOST_ROWS = 50


@pages.get("/operator/health")
def show_health() -> str:
    """Show what the sweep would do, by trying and undoing it, and PostgreSQL's own figures."""
    account, services = auth.reading_person(), wired()
    return render_template(
        "operations/health.html",
        left=sweep(services.uow, services.policy, now=utc_now(), dry_run=True),
        database=database_health(services.uow),
        LEFT_BEHIND=LEFT_BEHIND,
        most=MOST_ROWS,
        may_act=account.is_operator,
    )


@pages.post("/operator/sweep")
def run_sweep() -> Response:
    """Sweep now, and show the page again."""
    actor = str(auth.operating_person().user_id)
    sweep_now(wired().uow, wired().policy, actor=actor, now=utc_now())
    return redirect(url_for("pages.show_health"), 303)
