"""The operator's page of the audit log: who did what, and when."""

from __future__ import annotations

from flask import render_template, request

from app.services.operations.read_audit_log import entries
from app.store.operations.audit_log import AuditEntry
from app.web.core import auth
from app.web.core.context import wired
from app.web.core.pages import pages, read
from app.web.core.schemas import PageQuery
from app.web.operations.console_words import ACTIONS

#: How many members of a list one line names, as of the ids of dead letters.
MOST_MEMBERS = 10


@pages.get("/operator/audit")
def show_audit_log() -> str:
    """Show the actions of operators, newest first."""
    auth.reading_person()
    query = read(PageQuery, request.args)
    found = entries(wired().uow, before=query.cursor, most=query.limit + 1)
    shown = found[: query.limit]
    return render_template(
        "operations/audit.html",
        entries=[(entry, _facts(entry)) for entry in shown],
        next=shown[-1].id if len(found) > query.limit else None,
        first=query.cursor is None,
        actions=ACTIONS,
    )


def _facts(entry: AuditEntry) -> dict[str, str]:
    """The details in words; the old value comes before the new one."""
    ordered = sorted(entry.facts.items(), key=lambda item: item[0] != "before")
    return {name: _fact(value) for name, value in ordered}


def _fact(value: object) -> str:
    if isinstance(value, list):
        more = f" and {len(value) - MOST_MEMBERS:,} more" if len(value) > MOST_MEMBERS else ""
        return ", ".join(map(str, value[:MOST_MEMBERS])) + more
    return "none" if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
