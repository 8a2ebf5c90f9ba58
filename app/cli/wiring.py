"""Functions that all commands with a database share."""

from __future__ import annotations

import json
import os
import pwd
import socket
from collections.abc import Callable
from datetime import datetime
from typing import Any

import click
from sqlalchemy.engine import make_url
from testlist.version import PARSER_VERSION

from app import embedded, home
from app.database import database_url, owner_url
from app.services.policy import Policy
from app.settings import Settings, load, secrets
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork

_DATABASE = "fairlane.database"


def open_database() -> UnitOfWork:
    """Transactions on the configured database; an embedded server is held until the command ends."""
    return _open(database_url)


def open_as_owner() -> UnitOfWork:
    """Open the database as the owner of the tables."""
    return _open(owner_url)


def _open(url: Callable[[Settings], str]) -> UnitOfWork:
    settings = load()
    if settings.database_url is None:
        # held, not only started: a single command must not leave a server behind
        click.get_current_context().with_resource(embedded.hold(settings.home))
    uow = UnitOfWork(make_engine(url(settings), pool_size=1, application_name="fairlane cli"))
    click.get_current_context().meta[_DATABASE] = uow
    return uow


def application_role() -> str | None:
    """The role with which the service uses the database."""
    return make_url(database_url(load())).username


def canaries() -> dict[str, str]:
    """Every secret that this process can know, by its name."""
    settings = load()
    found = secrets(settings)
    if key := home.kept_key(settings):
        found["secret_key_file"] = key
    if settings.database_url is None:
        found |= embedded.passwords(settings.home)
    return found


def actor() -> str:
    """Name who runs this command, for the audit log: the user of the operating system and the host."""
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # in a container that gives the process any number
        user = str(os.getuid())
    return f"cli:{user}@{socket.gethostname()}"


def policy() -> Policy:
    """The current policy."""
    return Policy.of(load(), PARSER_VERSION)


def now() -> datetime:
    """The instant of a command, from the database that it has opened."""
    uow: UnitOfWork = click.get_current_context().meta[_DATABASE]
    return uow.now()


def show(facts: dict[str, Any], *, as_json: bool) -> None:
    """Print members as a JSON object, or as `name: value` lines."""
    if as_json:
        click.echo(json.dumps(facts, default=str))
        return
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        click.echo(f"{name}: {shown}")
