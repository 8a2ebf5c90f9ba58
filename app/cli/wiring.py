"""Functions that all commands with a database share."""

from __future__ import annotations

import json
import os
import pwd
import socket
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import click
from sqlalchemy import Engine
from sqlalchemy.engine import make_url

from app import embedded, home
from app.adapters.cell_databases import cells_of
from app.database import database_url, directory_url, owner_url
from app.rights import grants
from app.services.cells.cells import Cells
from app.services.cells.refuse_moving import refuse_moving
from app.services.cells.register import register, unregister
from app.services.policy import Policy
from app.settings import Settings, load, secrets
from app.store.cells import directory
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork

_DATABASE = "fairlane.database"
APPLICATION_NAME = "fairlane cli"


def open_database() -> UnitOfWork:
    """Transactions on the configured database; an embedded server is held until the command ends.

    Accounts that are made in them are noted in the directory, if there are cells.
    """
    uow, settings = _open(database_url), load()
    if settings.cell is None:
        return uow
    cells = cells_of(settings, uow, APPLICATION_NAME)
    return replace(
        uow,
        register=partial(register, cells.directory, cells.uows, settings.cell),
        unregister=partial(unregister, cells.directory, settings.cell),
        refuse_moving=partial(refuse_moving, cells.directory),
    )


def publishing(uow: UnitOfWork) -> UnitOfWork:
    """Let transactions put messages on queues."""
    # Celery is imported by the commands that need it alone
    from celery import Celery  # noqa: PLC0415

    from app.adapters.publishing import publisher  # noqa: PLC0415

    return replace(uow, publisher=publisher(Celery("fairlane", config_source="celeryconfig", set_as_current=False)))


def make_directory() -> bool:
    """Make the directory's tables where DIRECTORY_URL is set; False if there was nothing to do."""
    settings = load()
    if settings.directory_url is None:
        return False
    url, owner = make_url(directory_url(settings)), make_url(owner_url(settings))
    # in a database of a cell whose owner migrates it, the application's role may create nothing
    is_ours = (url.host, url.port or 5432, url.database) == (owner.host, owner.port or 5432, owner.database)
    by_owner = is_ours and url.username != owner.username
    with UnitOfWork(_engine(owner_url(settings) if by_owner else directory_url(settings))).begin() as tx:
        return directory.create(tx, rights=grants(url.username or "") if by_owner else None)


def lacks_directory() -> bool:
    """Whether DIRECTORY_URL is set, and `make_directory` would make its tables."""
    settings = load()
    if settings.directory_url is None:
        return False
    with UnitOfWork(_engine(directory_url(settings))).once() as tx:
        return not directory.is_made(tx)


def open_as_owner() -> UnitOfWork:
    """Open the database as the owner of the tables."""
    return _open(owner_url)


def open_cells(*, publishes: bool = False) -> Cells:
    """All cells and the directory.  publishes: messages of jobs as well.  Raises: BadSetting without CELLS."""
    uow = _open(database_url)
    return cells_of(load(), publishing(uow) if publishes else uow, APPLICATION_NAME)


def _open(url: Callable[[Settings], str]) -> UnitOfWork:
    settings = load()
    if settings.database_url is None:
        # held, not only started: a single command must not leave a server behind
        click.get_current_context().with_resource(embedded.hold(settings.home))
    uow = UnitOfWork(_engine(url(settings)))
    click.get_current_context().meta[_DATABASE] = uow
    return uow


def _engine(url: str) -> Engine:
    return make_engine(url, pool_size=1, application_name=APPLICATION_NAME)


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
    # most commands need no policy, and this loads the languages of the engine
    from testlist.version import PARSER_VERSION  # noqa: PLC0415

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
