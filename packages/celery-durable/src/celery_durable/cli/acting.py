"""The commands of `durable` that change something: the schema, dead letters, and whole queues."""

from collections.abc import Iterable
from typing import Any

import click

from celery_durable import dead_letters, queues, schema

from .session import session


@click.command()
@click.option("--grant-publisher", "publishers", multiple=True, metavar="ROLE", help="A role that may publish.")
@click.option("--grant-worker", "workers", multiple=True, metavar="ROLE", help="A role that may run workers.")
@click.pass_obj
def upgrade(context: Any, publishers: tuple[str, ...], workers: tuple[str, ...]) -> None:
    """Create the broker's tables, or bring them to this package's version, and give roles their rights."""
    with session(context.app) as (connection, options):
        version = schema.upgrade(connection, options)
        for right, roles in (("publisher", publishers), ("worker", workers)):
            for role in roles:
                schema.grant(connection, role, right, options)
    click.echo(f"version {version}")


def _choosing(command: Any) -> Any:
    """Add what chooses dead letters: ids, or a queue and a reason, or --all."""
    for decorate in (
        click.pass_obj,
        click.option("--all", "everything", is_flag=True, help="All of them, or all that the other options leave."),
        click.option("--reason", type=click.Choice(["lost", "rejected", "undecodable"]), help="For this reason only."),
        click.option("--queue", help="Of this queue only."),
        click.argument("ids", nargs=-1, type=int),
    ):
        command = decorate(command)
    return command


def _chosen(ids: tuple[int, ...], queue: str | None, reason: str | None, *, everything: bool) -> dict[str, Any]:
    if not (ids or queue or reason or everything):
        raise click.UsageError("name the IDS of dead letters, or a --queue, a --reason, or --all")
    return {"ids": ids or None, "queue": queue, "reason": reason}


@click.command()
@_choosing
def redrive(context: Any, ids: tuple[int, ...], queue: str | None, reason: str | None, *, everything: bool) -> None:
    """Put dead letters back on their queues.  The exit code is 1 if one of them stays dead."""
    chosen = _chosen(ids, queue, reason, everything=everything)
    with session(context.app) as (connection, options):
        done = dead_letters.redrive(connection, options=options, **chosen)
    click.echo(f"{len(done.put)} redriven")
    _refuse(
        [
            *(f"{letter} stays dead ({why})" for letter, why in done.kept.items()),
            *_unknown(ids, (*done.put, *done.kept)),
        ]
    )


@click.command()
@_choosing
def drop(context: Any, ids: tuple[int, ...], queue: str | None, reason: str | None, *, everything: bool) -> None:
    """Delete dead letters for good.  The exit code is 1 if one of IDS is none."""
    chosen = _chosen(ids, queue, reason, everything=everything)
    with session(context.app) as (connection, options):
        gone = dead_letters.drop(connection, options=options, **chosen)
    click.echo(f"{len(gone)} dropped")
    _refuse(_unknown(ids, gone))


def _unknown(ids: tuple[int, ...], found: Iterable[int]) -> list[str]:
    return [f"{letter} is no dead letter" for letter in sorted({*ids} - {*found})]


def _refuse(reasons: list[str]) -> None:
    if reasons:
        raise click.ClickException("; ".join(reasons))


@click.command()
@click.argument("names", metavar="QUEUE...", nargs=-1, required=True)
@click.pass_obj
def pause(context: Any, names: tuple[str, ...]) -> None:
    """Stop the delivery of queues.  Running tasks end, and publishing continues."""
    with session(context.app) as (connection, options):
        for name in names:
            queues.pause(connection, name, options=options)
    click.echo(f"paused {', '.join(names)}")


@click.command()
@click.argument("names", metavar="QUEUE...", nargs=-1, required=True)
@click.pass_obj
def resume(context: Any, names: tuple[str, ...]) -> None:
    """Resume the delivery of queues."""
    with session(context.app) as (connection, options):
        for name in names:
            queues.resume(connection, name, options=options)
    click.echo(f"resumed {', '.join(names)}")


@click.command()
@click.argument("tenant")
@click.argument("old")
@click.argument("new")
@click.pass_obj
def move(context: Any, tenant: str, old: str, new: str) -> None:
    """Move the waiting messages of TENANT from queue OLD to NEW; '' are those without a tenant."""
    with session(context.app) as (connection, options):
        left = queues.move(connection, tenant, old, new, options=options)
    waiting = left.ready + left.delayed + left.parked if left else 0
    remaining = f"; {left.leased} run and {waiting} wait on {old} still" if left else ""
    click.echo(f"moved {tenant!r} from {old} to {new}{remaining}")
