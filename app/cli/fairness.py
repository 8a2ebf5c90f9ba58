"""`fairlane fairness` and `fairlane simulate`: who waited why, and what would change it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Column, Table

from app.cli.durations import DurationType
from app.cli.recorded_jobs import lines, read
from app.cli.wiring import now, open_database, policy
from app.domain.plans import SOLD_PLANS, Tier
from app.domain.queues import JOB_QUEUES, SUFFIXES
from app.services.fairness import report_waits
from app.services.fairness import simulate as simulating
from app.settings import load

DATABASE = "database"


class _Numbers(click.ParamType[dict[str, int]]):
    """`name=1,name=2`, with the given names."""

    name = "name=number,…"

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = allowed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, int]:
        found = {}
        for part in str(value).split(","):
            name, _, number = part.strip().partition("=")
            if name not in self._allowed or not number.isdecimal() or not int(number):
                self.fail(f"{part!r}: expected NAME=NUMBER, with a name of {', '.join(self._allowed)}", param, ctx)
            found[name] = int(number)
        return found


@click.command()
@click.option("--since", "ago", type=DurationType(), default="24h", show_default=True, help="How far back to look.")
@click.option("--by", type=click.Choice(["user", "tier"]), default="tier", show_default=True)
@click.option("--export", is_flag=True, help="Print the jobs as JSON lines for `fairlane simulate`.")
@click.option("--json", "as_json", is_flag=True)
def fairness(ago: timedelta, *, by: report_waits.By, export: bool, as_json: bool) -> None:
    """Print who waited how long and why: their own limit, other users, no worker, or a paused queue."""
    uow, until = open_database(), now()
    if export:
        for line in lines(simulating.recorded(uow, since=until - ago, until=until)):
            click.echo(line)
        return
    report = report_waits.report(uow, policy(), by=by, since=until - ago, until=until, workers=_workers({}))
    if as_json:
        click.echo(json.dumps(asdict(report) | {"items": _rows(report)}, default=str))
        return
    click.echo(f"since {report.since:%Y-%m-%d %H:%M:%S} UTC; waits in seconds")
    _print(_rows(report), left_out=("user_id",))
    if report.more:
        click.echo(f"and {report.more} users with shorter waits")
    _print([asdict(hour) for hour in report.sharing])


@click.command()
@click.option("--from", "source", default=DATABASE, show_default=True, metavar="LOG|database", help="Recorded jobs.")
@click.option(
    "--since", "ago", type=DurationType(), default="24h", show_default=True, help="How far back, in the database."
)
@click.option("--limits", type=_Numbers([tier.value for tier in Tier]), default=None, help="Slot limits by tier.")
@click.option("--workers", type=_Numbers([*SUFFIXES, *JOB_QUEUES]), default=None, help="Processes by queue.")
@click.option("--json", "as_json", is_flag=True)
def simulate(
    source: str, ago: timedelta, *, limits: dict[str, int] | None, workers: dict[str, int] | None, as_json: bool
) -> None:
    """Simulate recorded jobs with other limits and numbers of processes; defaults are those now in force."""
    if source == DATABASE:
        uow, until = open_database(), now()
        given = simulating.recorded(uow, since=until - ago, until=until)
        in_force = report_waits.slots_by_tier(uow, policy())
    else:
        given, in_force = _log(source), {plan.tier: load().fairness.slot_limit(plan) for plan in SOLD_PLANS}
    slots = in_force | {Tier(name): number for name, number in (limits or {}).items()}
    simulation = simulating.simulate(given, slots, _workers(workers or {}))
    if as_json:
        click.echo(json.dumps(asdict(simulation)))
        return
    click.echo(
        f"{simulation.jobs} jobs, {simulation.turnaround} s from the end of one to the next start; waits in seconds"
    )
    _print([asdict(waits) for waits in simulation.tiers])
    _print([asdict(use) for use in simulation.queues])


def _rows(report: report_waits.Report) -> list[dict[str, Any]]:
    """The rows of a report; in a report by tier, without the columns of users."""
    left_out = () if report.by == "user" else ("user_id", "email", "earlier_on_pro_minutes")
    return [{name: value for name, value in asdict(row).items() if name not in left_out} for row in report.items]


def _log(source: str) -> simulating.Load:
    try:
        with Path(source).open(encoding="utf-8") as file:
            return read(file)
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{source!r} cannot be read: {error}", param_hint="--from") from None


def _workers(given: Mapping[str, int]) -> dict[str, int]:
    """Count the workers of each queue.  given: by queue, or by suffix for all services; else the settings apply."""
    settings = load()
    return {
        queue: given.get(queue, given.get(queue.partition("_")[2], settings.workers(queue))) for queue in JOB_QUEUES
    }


def _print(rows: Sequence[Mapping[str, Any]], *, left_out: Sequence[str] = ()) -> None:
    if not rows:
        return
    names = [name for name in rows[0] if name not in left_out]
    table = Table(*(Column(name.replace("_", " "), no_wrap=name in ("queue", "email")) for name in names))
    for row in rows:
        table.add_row(*("" if row[name] is None else str(row[name]) for name in names))
    Console().print(table)
