"""`fairlane dead …`: the messages that the broker gave up."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Column, Table

from app.cli.wiring import actor, open_database, show
from app.services.operations import dead_letters
from app.services.operations.dead_letters import Chosen, Done
from app.store.operations.dead_letters import DeadLetter

COLUMNS = ("id", "queue", "task_id", "reason", "delivery_count", "lost_count", "died_at", "payload_size")


@click.command()
@click.argument("what", type=click.Choice(["list", "redrive", "drop"]), default="list")
@click.argument("ids", type=int, nargs=-1)
@click.option("--queue", help="Only letters of this queue.")
@click.option("--reason", help=f"Only letters with this reason: {', '.join(dead_letters.REASONS)}.")
@click.option("--before", type=int, help="list: only smaller ids, for the next page.")
@click.option("--most", type=click.IntRange(1, 10_000), default=100, show_default=True, help="list: how many letters.")
@click.option("--json", "as_json", is_flag=True)
@click.option("--yes", is_flag=True, help="Needed to drop letters, and to redrive all of them.")
def dead(
    what: str,
    ids: tuple[int, ...],
    *,
    queue: str | None,
    reason: str | None,
    before: int | None,
    most: int,
    as_json: bool,
    yes: bool,
) -> None:
    """List dead letters, newest first; put them back on their queues (redrive), or delete them (drop).

    With IDs, list also shows payloads.  redrive and drop act on the IDs, or on all of --queue and --reason.
    """
    uow = open_database()
    chosen = Chosen(ids or None, queue, reason)
    if what == "list":
        _list(dead_letters.find(uow, chosen, before=before, most=most), whole=bool(ids), as_json=as_json)
        return
    if not yes and (what == "drop" or chosen == Chosen()):
        count = dead_letters.count(uow, chosen)
        raise click.UsageError(f"{what} of {count} dead letters needs --yes, or a narrower choice")
    act = dead_letters.redrive if what == "redrive" else dead_letters.drop
    _tell(act(uow, chosen, actor=actor()), "redriven" if what == "redrive" else "dropped", as_json=as_json)


def _list(letters: list[DeadLetter], *, whole: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([asdict(letter) for letter in letters], default=str))
    elif whole:
        for letter in letters:
            show(asdict(letter), as_json=False)
    else:
        table = Table(*(Column(column, no_wrap=column in ("id", "queue", "task_id")) for column in COLUMNS))
        for letter in letters:
            table.add_row(*(str(getattr(letter, column)) for column in COLUMNS))
        Console().print(table)


def _tell(done: Done, word: str, *, as_json: bool) -> None:
    """Print the outcome; exit code 1 when a letter stays."""
    if as_json:
        click.echo(json.dumps({word: done.done, "kept": done.kept}))
    else:
        click.echo(f"{len(done.done)} {word}")
        for letter, why in done.kept.items():
            click.echo(f"fairlane: {letter} stays a dead letter: {why}", err=True)
    if done.kept:
        sys.exit(1)
