"""`durable facts` and `durable dead`: lists for people, or as JSON for programs."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from celery_durable.dead_letters import list_dead
from celery_durable.facts import group_facts, queue_facts

from .session import session

JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
#: Columns of the lists for people.
QUEUE_COLUMNS = ("queue", "paused", "ready", "oldest_seconds", "leased", "delayed", "snoozed", "parked", "dead")
GROUP_COLUMNS = ("group", "ready", "oldest_seconds", "leased", "delayed", "parked")
DEAD_COLUMNS = ("id", "queue", "task_id", "user_id", "reason", "lost_count", "died_at")


@click.command()
@click.argument("queue", required=False)
@click.option("--tenant", help="Of QUEUE, this tenant only; '' for the messages without one.")
@click.option("--most", type=click.IntRange(min=1), default=20, show_default=True, help="How many tenants of QUEUE.")
@JSON
@click.pass_obj
def facts(context: Any, queue: str | None, tenant: str | None, most: int, *, as_json: bool) -> None:
    """Show the numbers of all queues, or of the tenants of one QUEUE with the most waiting messages."""
    if queue is None and tenant is not None:
        raise click.UsageError("--tenant needs a QUEUE")
    with session(context.app) as (connection, options):
        rows: Sequence[Any]
        if queue is None:
            rows = queue_facts(connection, options=options)
        else:
            rows = group_facts(connection, queue, group=tenant, most=most, options=options)
    show(rows, GROUP_COLUMNS if queue else QUEUE_COLUMNS, as_json=as_json)


@click.command()
@click.argument("ids", nargs=-1, type=int)
@click.option("--queue", help="Of this queue only.")
@click.option("--reason", type=click.Choice(["lost", "rejected", "undecodable"]), help="For this reason only.")
@click.option("--before", type=int, metavar="ID", help="Older than this one: the last of the page before.")
@click.option("--most", type=click.IntRange(min=1), default=100, show_default=True, help="How many.")
@JSON
@click.pass_obj
def dead(
    context: Any,
    ids: tuple[int, ...],
    *,
    queue: str | None,
    reason: str | None,
    before: int | None,
    most: int,
    as_json: bool,
) -> None:
    """List dead letters, newest first.  IDS: these only; with --json their payloads are whole."""
    whole = as_json and bool(ids)
    with session(context.app) as (connection, options):
        rows = list_dead(
            connection, ids or None, queue=queue, reason=reason, before=before, most=most, whole=whole, options=options
        )
    show(rows, DEAD_COLUMNS, as_json=as_json)


def show(rows: Sequence[Any], columns: Sequence[str], *, as_json: bool) -> None:
    """Print named tuples: all fields as JSON, or these columns in a table."""
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], default=str, indent=1))
        return
    lines = [columns, *([_text(row, name) for name in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        click.echo("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def _text(row: Any, name: str) -> str:
    """The value of a column; a number that is an estimate has a ~ before it."""
    value = getattr(row, name)
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"~{value}" if name in getattr(row, "estimated", ()) else "-" if value is None else str(value)
