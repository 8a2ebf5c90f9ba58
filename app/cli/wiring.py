"""What commands that touch the database share."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import click

from app import embedded
from app.database import database_url
from app.services.policy import Policy
from app.settings import load
from app.store.connections import make_engine
from app.store.unit_of_work import UnitOfWork
from tasks.inventory.version import PARSER_VERSION


def open_database() -> UnitOfWork:
    """Transactions on the configured database; an embedded one is held until the command ends."""
    settings = load()
    if settings.database_url is None:
        # held, not only started: a command by itself must not leave a server behind
        click.get_current_context().with_resource(embedded.hold(settings.home))
    return UnitOfWork(make_engine(database_url(settings), pool_size=1, application_name="fairlane cli"))


def policy() -> Policy:
    """The policy in force."""
    return Policy.of(load(), PARSER_VERSION)


def now() -> datetime:
    """The instant commands act at."""
    return datetime.now(UTC)


def show(facts: dict[str, Any], *, as_json: bool) -> None:
    """Print facts as a JSON object, or as `name: value` lines."""
    if as_json:
        click.echo(json.dumps(facts, default=str))
        return
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        click.echo(f"{name}: {shown}")
