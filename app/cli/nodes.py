"""`fairlane nodes`, `drain` and `undrain`: what the nodes do, and to empty one before its host is stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict
from datetime import timedelta

import click

from app.cli.durations import DurationType
from app.cli.rows import show_rows
from app.cli.wiring import actor, open_database
from app.database import database_url
from app.domain.words import counted
from app.errors import Problem
from app.services.operations import drain as draining
from app.services.operations import nodes as shown
from app.services.operations.drain import NodeProgress, Tell
from app.services.operations.nodes import NodeState, state_of
from app.settings import load
from app.store.core.unit_of_work import UnitOfWork

#: How often the database is asked how far the nodes are, and within what time a node has to obey.
LOOK_SECONDS = 0.5
OBEY_SECONDS = 30.0
#: A node that has lost its session connects again within this time; after it, it has ended.
GONE_SECONDS = 15.0
LONGEST = "2h"  # more than the longest job takes


@click.command()
@click.option("--json", "as_json", is_flag=True)
def nodes(*, as_json: bool) -> None:
    """List the Celery nodes: their queues, the messages that they hold, and whether they drain."""
    found = [asdict(node) | {"state": state_of(node).value} for node in shown.states(open_database())]
    columns = ("name", "state", "queues", "leased", "processes", "since", "seen_at")
    rows = [{column: node[column] for column in columns} for node in found]
    show_rows(rows, columns, as_json=as_json)


@click.command()
@click.argument("node", metavar="NODE|HOST")
@click.option("--timeout", type=DurationType(), default=LONGEST, show_default=True, help="How long to wait.")
@click.option("--no-wait", is_flag=True, help="End as soon as the nodes take no more messages.")
@click.option("--reason", help="Why, for other operators; kept in the audit log.")
@click.option("--json", "as_json", is_flag=True)
def drain(node: str, timeout: timedelta, *, no_wait: bool, reason: str | None, as_json: bool) -> None:
    """Let a node, or all nodes of a host, take no more messages, and wait until their jobs have ended.

    Exit code 1 if one still holds a job when the time is over, or ended before its jobs.
    """
    uow = open_database()
    names = draining.drain(uow, node, _teller(), actor=actor(), reason=reason)
    wanted = {NodeState.DRAINED, NodeState.DEAD} | ({NodeState.DRAINING} if no_wait else set())
    _wait(uow, names, wanted, timeout.total_seconds(), as_json=as_json)


@click.command()
@click.argument("node", metavar="NODE|HOST")
@click.option("--json", "as_json", is_flag=True)
def undrain(node: str, *, as_json: bool) -> None:
    """Let a drained node, or all nodes of a host, take messages again."""
    uow = open_database()
    names = draining.undrain(uow, node, _teller(), actor=actor())
    _wait(uow, names, {NodeState.SERVING}, OBEY_SECONDS, as_json=as_json)


def _wait(
    uow: UnitOfWork, names: Sequence[str], wanted: AbstractSet[NodeState], seconds: float, *, as_json: bool
) -> None:
    """Show how far the nodes are until all are in a state that is wanted.  Raises: Problem if one is not in the end."""
    found = _watched(uow, names, wanted, seconds, is_told=not as_json)
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found]))
    if faults := [fault for one in found if (fault := _fault(one, wanted))]:
        raise Problem("; ".join(faults))


def _watched(
    uow: UnitOfWork, names: Sequence[str], wanted: AbstractSet[NodeState], seconds: float, *, is_told: bool
) -> list[NodeProgress]:
    """How far they are in the end: all in a state that is wanted, or the time is over, or one does not obey."""
    seen: dict[str, NodeProgress] = {}
    died: dict[str, float] = {}
    began = time.monotonic()
    while True:
        found = [_with_loss(one, seen.get(one.name)) for one in draining.progress(uow, names)]
        died = {one.name: died.get(one.name, time.monotonic()) for one in found if one.state is NodeState.DEAD}
        gone = {name for name, since in died.items() if time.monotonic() - since >= GONE_SECONDS}
        for one in found:
            if is_told and one != seen.get(one.name) and one.state is not NodeState.DEAD:
                click.echo(_said(one))
        seen = {one.name: one for one in found}
        left = {one.state for one in found if one.name not in gone and one.state not in wanted - {NodeState.DEAD}}
        passed = time.monotonic() - began
        if not left or passed >= seconds or (passed >= OBEY_SECONDS and NodeState.SERVING in left):
            for one in found:
                if is_told and one.name in gone:
                    click.echo(_said(one))
            return found
        time.sleep(LOOK_SECONDS)  # between two looks: nobody announces the end of a drain


def _with_loss(now: NodeProgress, before: NodeProgress | None) -> NodeProgress:
    """A node that has ended, with what it held before: its row goes when others have taken that over."""
    if now.state is NodeState.DEAD and before is not None:
        return NodeProgress(now.name, now.state, max(now.held, before.held))
    return now


def _said(one: NodeProgress) -> str:
    held = counted(one.held, "message")
    match one.state:
        case NodeState.SERVING:
            return f"{one.name} takes messages"
        case NodeState.DRAINING:
            return f"{one.name} takes no more messages, and holds {held}"
        case NodeState.DRAINED:
            return f"{one.name} is drained: nothing runs"
    return f"{one.name} ended while it held {held}: other nodes run it again" if one.held else f"{one.name} has ended"


def _fault(one: NodeProgress, wanted: AbstractSet[NodeState]) -> str | None:
    """What is wrong with a node in the end; None if it did what it was told."""
    if one.state is NodeState.DEAD:
        return _said(one) if one.held or one.state not in wanted else None
    if one.state in wanted:
        return None
    if one.state is NodeState.DRAINING and NodeState.DRAINED in wanted:
        return (
            f"{one.name} still holds {counted(one.held, 'message')}, and takes no more: run the command again to go on"
            f" waiting, or `fairlane undrain {one.name}`"
        )
    return f"{one.name} did not obey: its event loop is busy, or its release does not know the command"


def _teller() -> Tell:
    # kombu is imported by these commands alone
    from app.adapters.remote_control import teller  # noqa: PLC0415

    return teller(database_url(load()))
