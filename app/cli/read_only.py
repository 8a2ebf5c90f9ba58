"""`fairlane read-only`: let the web take no changes while the database is moved or mended."""

from __future__ import annotations

from dataclasses import asdict

import click

from app.cli.wiring import actor, open_database, show
from app.services.operations import read_only as switching

#: Characters of a reason, which every page and every refusal has.
MOST = 300


@click.command("read-only")
@click.argument("wanted", type=click.Choice(["on", "off"]), required=False)
@click.option("--reason", help="Why; people see it on every page, and it is kept in the audit log.")
@click.option("--json", "as_json", is_flag=True)
def read_only(wanted: str | None, reason: str | None, *, as_json: bool) -> None:
    """Switch the changes of the web off or on, and show whether it takes them; without on or off, only show it."""
    uow = open_database()
    if reason and wanted != "on":
        raise click.UsageError("--reason belongs to `on`")
    if reason is not None and not 0 < len(reason.strip()) <= MOST:
        raise click.BadParameter(f"expected 1 to {MOST} characters", param_hint="--reason")
    if wanted:
        switching.switch(uow, on=wanted == "on", actor=actor(), reason=reason)
    found = switching.state(uow)
    facts = asdict(found) if found else dict.fromkeys(("is_databases", "since", "actor", "reason"))
    show({"read_only": found is not None} | facts, as_json=as_json)
