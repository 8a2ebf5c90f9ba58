"""`fairlane doctor`: name what is wrong with the service, and mend what can be mended."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import TextIO

import click

from app.adapters.object_store import objects_of
from app.adapters.upkeep import take_back
from app.cli.wiring import actor, application_role, open_as_owner, open_database, policy
from app.database import session_url
from app.migrate import migrate
from app.replicas import open_replica
from app.services.operations.doctor import Diagnosis, Instruments, examine
from app.services.operations.find_lost_ids import Lost, find_lost_ids
from app.settings import Settings, load
from app.store.core.connections import make_engine
from app.store.core.listening import hears
from app.store.core.unit_of_work import UnitOfWork

#: How long to wait for a notification, which takes milliseconds.
HEARING_SECONDS = 5.0


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended while the service runs.")
@click.option(
    "--ids",
    type=click.File(encoding="utf-8", errors="replace"),
    help="Look up the ids of jobs and of messages to webhooks in this log (- for standard input), and nothing else.",
)
@click.option("--json", "as_json", is_flag=True)
def doctor(*, fix: bool, ids: TextIO | None, as_json: bool) -> None:
    """Name what is wrong: leaks, orphans, stuck leases, dead nodes, clocks, settings, indexes, disk, standbys, replica.

    Without --fix it changes nothing.  Exit code 1 if something was found, or is left after --fix.
    """
    if ids is not None:
        if fix:
            raise click.UsageError("--ids looks ids up; --fix is of the checks without it")
        _tell_lost(find_lost_ids(open_database(), ids), as_json=as_json)
        return
    found = examine(instruments(load()), fix=fix)
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found], default=str))
    else:
        _print(found, fix=fix)
    if any(one.status == "found" for one in found):
        sys.exit(1)


def instruments(settings: Settings) -> Instruments:
    """Open what the checks need."""
    uow = open_database()
    replica = open_replica(settings, application_name="fairlane cli", pool_size=1, logs=False)

    def hear() -> bool:
        engine = make_engine(session_url(settings), pool_size=1, application_name="fairlane cli")
        try:
            return hears(engine, uow.engine, seconds=HEARING_SECONDS)
        finally:
            engine.dispose()

    return Instruments(
        uow=replace(uow, replica=replica),
        policy=policy(),
        actor=actor(),
        seconds=_limits(settings),
        folder=settings.home,
        as_owner=open_as_owner,
        hears=hear,
        take_back=lambda: take_back(uow),
        migrate=lambda: _migrate(open_as_owner()),
        objects=objects_of(settings),
    )


def _limits(settings: Settings) -> Mapping[str, float]:
    limits = {
        "analysis": settings.analysis_time_limit,
        "specview": settings.spec_time_limit,
        "maintenance": settings.maintenance_time_limit,
    }
    return {queues: limit.total_seconds() for queues, limit in limits.items()}


def _migrate(owner: UnitOfWork) -> str:
    return migrate(owner.engine, role=application_role())


def _print(found: list[Diagnosis], *, fix: bool) -> None:
    width = max(len(one.name) for one in found)
    for one in found:
        click.echo(f"{one.status:8} {one.name:{width}}  {one.looked_at}")
    for one in found:
        for line in _details(one):
            click.echo(line)
    if not fix and any(one.status == "found" for one in found):
        click.echo("\nnothing was changed: `fairlane doctor --fix` mends what can be mended")


def _details(one: Diagnosis) -> Iterator[str]:
    if one.why:
        yield f"\n{one.name}: not checked: {one.why}"
    if one.rows:
        yield f"\n{one.name}: {one.means}"
    for row in one.rows:
        yield "  " + " ".join(f"{name}={value}" for name, value in row.items())
    if one.mended:
        yield f"  done: {one.mended}"
    if one.by_hand:
        yield f"  to do: {one.by_hand}"


def _tell_lost(lost: Lost, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(asdict(lost), default=str))
    else:
        click.echo(f"{lost.looked_up} ids looked up; not known: {len(lost.jobs)} jobs, {len(lost.messages)} messages")
        for name in (*lost.jobs, *lost.messages):
            click.echo(str(name))
    if lost.jobs or lost.messages:
        sys.exit(1)
