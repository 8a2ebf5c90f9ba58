"""`fairlane audit`, `sweep` and `prune`: check the data, remove left-over holds, delete what has expired."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import click
from rich.console import Console
from rich.table import Column, Table

from app.adapters.object_store import objects_of
from app.cli.wiring import canaries, now, open_database, policy
from app.services.operations import audit as auditing
from app.services.operations import prune as pruning
from app.services.operations import sweep as sweeping
from app.services.operations.audit import HOLDS, Finding
from app.services.operations.audit_objects import SAMPLE, audit_objects
from app.settings import load


@click.command()
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    help="UTC; leave out jobs that were accepted earlier.",
)
@click.option(
    "--rows",
    type=click.IntRange(1, 10_000),
    default=auditing.ROWS,
    show_default=True,
    help="Rows to show for each invariant.",
)
@click.option("--seconds", type=click.IntRange(1), default=600, show_default=True, help="Time for each invariant.")
@click.option("--all-objects", is_flag=True, help=f"Read all objects, not only the {SAMPLE} that were stored last.")
@click.option("--json", "as_json", is_flag=True)
def audit(since: datetime | None, *, rows: int, seconds: int, all_objects: bool, as_json: bool) -> None:
    """Check every invariant on the live database; exit code 1 if one is broken or took too long."""
    uow, within = open_database(), timedelta(seconds=seconds)
    found = auditing.audit(
        uow, since=since.replace(tzinfo=UTC) if since else None, most=rows, within=within, canaries=canaries()
    )
    if objects := objects_of(load()):
        sample = None if all_objects else SAMPLE
        found.append(audit_objects(uow, objects, within=within, most=rows, sample=sample))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in found], default=str))
    else:
        show_findings(found)
    if any(finding.status != HOLDS for finding in found):
        sys.exit(1)


def show_findings(found: list[Finding]) -> None:
    """Print the outcome of an audit: a table, and below it the rows that break an invariant."""
    table = Table(*(Column(name, no_wrap=name != "title") for name in ("no", "title", "status", "rows", "seconds")))
    for finding in found:
        table.add_row(finding.number, finding.title, finding.status, str(finding.broken), f"{finding.seconds:.2f}")
    Console().print(table)
    for finding in found:
        if finding.rows:
            click.echo(f"\n{finding.number} {finding.title}: {finding.broken}. {finding.sentence}")
        for row in finding.rows:
            click.echo("  " + " ".join(f"{name}={value}" for name, value in row.items()))


@click.command()
@click.option("--dry-run", is_flag=True, help="Report what a run would remove, and remove nothing.")
@click.option("--json", "as_json", is_flag=True)
def sweep(*, dry_run: bool, as_json: bool) -> None:
    """Run the sweep that beat sends every five minutes: remove what dead workers left behind."""
    swept = sweeping.sweep(open_database(), policy(), now=now(), dry_run=dry_run)
    if as_json:
        click.echo(json.dumps({"dry_run": dry_run, **swept.counts, "rows": swept.rows}, default=str))
        return
    for kind, count in swept.counts.items():
        click.echo(f"{kind}: {count}")
        for row in swept.rows.get(kind, []):
            click.echo("  " + " ".join(f"{name}={value}" for name, value in row.items()))


@click.command()
@click.option("--dry-run", is_flag=True, help="Count the rows with which a run would begin, and delete nothing.")
@click.option("--json", "as_json", is_flag=True)
def prune(*, dry_run: bool, as_json: bool) -> None:
    """Run the pruning that beat sends at 03:00 UTC: delete rows that have expired or that nothing refers to."""
    uow = open_database()
    pruned = pruning.prune(uow, now=now(), objects=objects_of(load()), dry_run=dry_run)
    if as_json:
        click.echo(json.dumps({"dry_run": dry_run, **pruned.counts}))
        return
    for kind, count in pruned.counts.items():
        click.echo(f"{kind}: {count}")
