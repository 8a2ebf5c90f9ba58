"""The command that migrates the database, or says what that would do."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from app.cli.wiring import application_role, lacks_directory, make_directory, open_as_owner
from app.migrate import migrate as migrate_database
from app.migrate import plan as plan_migration
from app.migration_plan import MigrationPlan


@click.command()
@click.option("--allow-newer", is_flag=True, help="Leave a schema alone that is newer than this release.")
@click.option("--plan", "only_plan", is_flag=True, help="Print what would be done and locked, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Of the plan.")
def migrate(*, allow_newer: bool, only_plan: bool, as_json: bool) -> None:
    """Migrate the database to the newest schema; safe to repeat, and to run on many hosts at once."""
    if as_json and not only_plan:
        raise click.UsageError("--json is of --plan")
    engine = open_as_owner().engine
    if not only_plan:
        click.echo(f"schema at {migrate_database(engine, role=application_role(), allow_newer=allow_newer)}")
        if make_directory():
            click.echo("the directory of cells was made")
        return
    plan, makes_directory = plan_migration(engine), lacks_directory()
    if as_json:
        click.echo(json.dumps({**asdict(plan), "makes_directory": makes_directory}))
        return
    click.echo("\n".join(_lines(plan)))
    if makes_directory:
        click.echo("the directory of cells: its tables are to be made, in a schema of their own (DIRECTORY_URL)")


def _lines(plan: MigrationPlan) -> list[str]:
    if not plan.steps:
        return [f"schema at {plan.head}: nothing to do"]
    lines = [f"schema at {plan.revision or 'nothing'}, to {plan.head}: {len(plan.steps)} migrations"]
    for step in plan.steps:
        lines.append(f"{step.revision}  {step.does}")
        lines += [f"  locks   {table} ({lock})" for table, lock in step.locks.items()]
        lines += [f"  online  {table}: {what}" for table, what in step.online.items()]
    lines.append("tables")
    for name, table in plan.tables.items():
        took = f", online steps take about {table.online_seconds} s" if table.online_seconds else ""
        lines.append(f"  {name}: about {table.rows:,} rows, {table.bytes / 1e6:,.0f} MB{took}")
    return [
        *lines,
        "Each lock is held for a moment; a migration waits for it at most 1 s at a time, and tries again.",
        "Online steps let everybody read and write; an index waits for the transactions that began before it.",
    ]
