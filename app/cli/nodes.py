"""`fairlane nodes`, `drain` and `undrain`: what the nodes do, and to empty one before its host is stopped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict
from datetime import timedelta
from functools import partial

import click

from app.cli.durations import DurationType
from app.cli.rows import show_rows
from app.cli.watched_nodes import OBEY_SECONDS, Watch, await_first_looks, fault
from app.cli.wiring import actor, open_database
from app.database import database_url
from app.errors import Problem
from app.services.operations import drain as draining
from app.services.operations import nodes as shown
from app.services.operations.drain import Tell
from app.services.operations.nodes import NodeState, state_of
from app.settings import load
from app.store.core.unit_of_work import UnitOfWork

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
    await_first_looks(lambda: draining.unknown(uow, node))
    names = draining.drain(uow, node, _teller(), actor=actor(), reason=reason)
    wanted = {NodeState.DRAINED, NodeState.DEAD} | ({NodeState.DRAINING} if no_wait else set())
    _wait(uow, names, wanted, timeout.total_seconds(), as_json=as_json)


@click.command()
@click.argument("node", metavar="NODE|HOST")
@click.option("--json", "as_json", is_flag=True)
def undrain(node: str, *, as_json: bool) -> None:
    """Let a drained node, or all nodes of a host, take messages again."""
    uow = open_database()
    await_first_looks(lambda: draining.unknown(uow, node))
    names = draining.undrain(uow, node, _teller(), actor=actor())
    _wait(uow, names, {NodeState.SERVING}, OBEY_SECONDS, as_json=as_json)


def _wait(
    uow: UnitOfWork, names: Sequence[str], wanted: AbstractSet[NodeState], seconds: float, *, as_json: bool
) -> None:
    """Show how far the nodes are until all are in a state that is wanted.  Raises: Problem if one is not in the end."""
    say = partial(click.echo, err=as_json)
    found = Watch(lambda: draining.progress(uow, names), wanted, seconds, say).end()
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found]))
    if faults := [reason for one in found if (reason := fault(one, wanted))]:
        raise Problem("; ".join(faults))


def _teller() -> Tell:
    # kombu is imported by these commands alone
    from app.adapters.remote_control import teller  # noqa: PLC0415

    return teller(database_url(load()))
