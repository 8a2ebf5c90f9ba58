"""`fairlane schedule …`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any, cast

import click

from app.cli.rows import show_rows
from app.cli.wiring import actor, now, open_database, publishing, show
from app.services.operations import schedule as entries
from app.services.operations.schedule import AskedRun
from app.setting_types import duration

SAID = {
    AskedRun.SENT: "sent",
    AskedRun.JUST_SENT: "not sent again: it was sent within the last 10 seconds",
    AskedRun.UNFINISHED: "not sent: its last message still waits or runs",
}


class _IntervalOrCode(click.ParamType[timedelta | None]):
    name = "interval"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta | None:
        if value == "code":
            return None
        try:
            return cast(timedelta, duration(value))
        except ValueError as error:
            self.fail(f"{value!r}: {error}, or `code`", param, ctx)


@click.group()
def schedule() -> None:
    """What beat sends, and when."""


@schedule.command("list")
@click.option("--json", "as_json", is_flag=True)
def list_entries(*, as_json: bool) -> None:
    """List the entries, and which beat leads."""
    uow = open_database()
    leader, found = entries.shown(uow, now=now())
    columns = ("name", "queue", "every_seconds", "is_enabled", "last_at", "next_at", "is_late")
    show_rows([asdict(entry) for entry in found], columns, as_json=as_json)
    if not as_json:
        click.echo(f"leader: {leader.name if leader and leader.is_alive else 'none'}")


@schedule.command("change")
@click.argument("name")
@click.option(
    "--every", type=_IntervalOrCode(), metavar="INTERVAL|code", help="How often, as 30m or 1h; `code`: as released."
)
@click.option("--enable/--disable", "is_enabled", default=None, help="Whether it is sent at all.")
@click.option("--reason", help="Why, for other operators; kept in the audit log.")
@click.option("--json", "as_json", is_flag=True)
@click.pass_context
def change_entry(
    ctx: click.Context,
    name: str,
    every: timedelta | None,
    *,
    is_enabled: bool | None,
    reason: str | None,
    as_json: bool,
) -> None:
    """Send an entry at another interval, or not at all; the leading beat obeys within seconds."""
    has_interval = ctx.get_parameter_source("every") is click.core.ParameterSource.COMMANDLINE
    if not has_interval and is_enabled is None:
        raise click.UsageError("nothing to change: give --every, --enable or --disable")
    uow = open_database()
    before = entries.entry(uow, name, now=now())
    entries.change(
        uow,
        name,
        every if has_interval else timedelta(seconds=before.every_seconds),
        is_enabled=before.is_enabled if is_enabled is None else is_enabled,
        actor=actor(),
        now=now(),
        reason=reason,
    )
    show(asdict(entries.entry(uow, name, now=now())), as_json=as_json)


@schedule.command("run")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True)
@click.pass_context
def run_entry(ctx: click.Context, name: str, *, as_json: bool) -> None:
    """Send an entry once, now, besides its slots; exit code 1 if it was not sent."""
    outcome = entries.run_now(publishing(open_database()), name, actor=actor(), now=now())
    if as_json:
        show({"name": name, "sent": outcome is AskedRun.SENT, "outcome": outcome.value}, as_json=True)
    else:
        click.echo(f"{name}: {SAID[outcome]}")
    ctx.exit(0 if outcome is AskedRun.SENT else 1)
