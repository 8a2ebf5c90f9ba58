"""The operator's commands: queues, settings, the API's document."""

from __future__ import annotations

import json
import os
from dataclasses import asdict

import click
from pydantic import SecretStr
from rich.console import Console
from rich.table import Column, Table

from app.cli.wiring import actor, open_database
from app.services.operations import queues as queueing
from app.settings import Settings, load
from app.store.operations.queues import QueueState


@click.command()
@click.option("--json", "as_json", is_flag=True)
def queues(*, as_json: bool) -> None:
    """Show the messages of each queue and the ages of the oldest ones, in seconds; ~ marks estimates.

    An oldest ready message counts from when it became ready, an oldest parked or snoozed one from its accept.
    """
    states = queueing.states(open_database())
    if as_json:
        click.echo(json.dumps([asdict(row) for row in states], default=str))
        return
    columns = (
        "queue", "ready", "oldest_seconds", "leased", "delayed", "parked", "oldest_parked_seconds", "dead", "paused",
    )  # fmt: skip
    headings = (column.replace("_seconds", " s").replace("_", " ") for column in columns)
    # a name or a number that is cut off is useless, so 80 characters must hold all of them
    table = Table(
        *(Column(heading, no_wrap=heading == "queue", overflow="fold") for heading in headings),
        box=None, pad_edge=False, padding=(0, 1, 0, 0),
    )  # fmt: skip
    for row in states:
        table.add_row(*(_cell(row, column) for column in columns))
    Console().print(table)


def _cell(row: QueueState, column: str) -> str:
    value = getattr(row, column)
    return f"{'~' if column in row.estimated else ''}{round(value) if isinstance(value, float) else value}"


@click.command()
@click.argument("queue")
@click.option("--reason", help="Why, for other operators; kept in the audit log.")
def pause(queue: str, reason: str | None) -> None:
    """Stop the delivery of a queue's messages; running jobs continue."""
    queueing.pause(open_database(), queue, actor=actor(), reason=reason)
    click.echo(f"{queue} is paused")


@click.command()
@click.argument("queue")
def resume(queue: str) -> None:
    """Resume the delivery of a paused queue's messages."""
    queueing.resume(open_database(), queue, actor=actor())
    click.echo(f"{queue} is open")


@click.command()
def config() -> None:
    """Print every setting with its value and where it comes from; secrets are masked."""
    settings = load()
    for field in Settings.model_fields:
        name = field.upper()
        source = "environment" if os.environ.get(name) else "file" if os.environ.get(f"{name}_FILE") else "default"
        click.echo(f"{name}={_shown(getattr(settings, field))}  # {source}")


@click.command()
def openapi() -> None:
    """Print the API's OpenAPI document."""
    from app.web import create_app  # noqa: PLC0415 - Flask, which no other command needs
    from app.web.core.wiring import wire  # noqa: PLC0415

    # the document needs no database; without an address, the embedded one would be started for it
    nowhere = Settings.model_validate({"database_url": "postgresql:///"}).database_url
    wired = wire(load().model_copy(update={"database_url": nowhere}))
    click.echo(json.dumps(create_app(wired).spec, indent=2))


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        return "(set, not shown)"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
