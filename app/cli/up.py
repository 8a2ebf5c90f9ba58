"""`fairlane up`: database, migrations, web, workers and beat in one process tree."""

from __future__ import annotations

import os
import socket
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import click
from testlist.sandbox import guard

from app import database, embedded, home, supervisor
from app.adapters.object_store import objects_of
from app.adapters.sandbox import require
from app.cli.children import children
from app.cli.listen_address import ListenAddress
from app.cli.local_repositories import Root, root_of
from app.cli.wiring import actor
from app.cli.worker_size import size_of
from app.errors import BadSetting, Problem
from app.migrate import migrate
from app.services.accounts import accounts, sessions, tokens
from app.services.operations.readiness import schema_of_database
from app.settings import Settings, load
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork

OPERATOR = "operator@localhost"
GRACE_SECONDS = 30.0


@click.command()
@click.argument("path", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option(
    "--workers",
    type=click.Choice(["tier", "queue"]),
    help="One Celery node per queue, or one per tier that serves both services (less memory), and one for maintenance, "
    "with as many processes as the settings say. Without it, the memory and the processors of the machine decide.",
)
def up(path: Path | None, host: str, port: int, *, no_open: bool, workers: Literal["tier", "queue"] | None) -> None:
    """Run everything until Ctrl-C: PostgreSQL, migrations, web, workers and beat.

    The Git repositories below PATH can be analysed; the default is LOCAL_REPOS_ROOT, or else a folder of the
    service's own with a sample repository.
    """
    settings, place = load(), ListenAddress(host, port)
    size, about_size = size_of(settings, workers)
    require(settings)
    objects_of(settings)  # so that what it needs is missed here, not by each worker
    guard.close()
    folder = home.folder(settings)
    with supervisor.alone(folder, place.near_url):
        _refuse_taken(place)
        with _database(settings) as addresses:
            root = root_of(settings, path)
            settings = settings.model_copy(update={"local_repos_root": root.folder})
            entry = _prepare(settings, addresses, place)
            click.echo(about_size)
            sys.exit(
                supervisor.run(
                    children(settings, addresses.service, place, size),
                    on_ready=lambda: _ready(place, root, entry, opens=not no_open),
                    grace=GRACE_SECONDS + settings.web_drain.total_seconds(),
                    watch=None if settings.database_url else lambda: _keep(settings),
                )
            )


@dataclass(frozen=True, slots=True)
class _Addresses:
    """Addresses of the database, with their passwords."""

    service: str = field(repr=False)
    owner: str = field(repr=False)


@contextmanager
def _database(settings: Settings) -> Iterator[_Addresses]:
    """The database's addresses; an embedded server runs as long as a process holds it."""
    if settings.database_url:
        yield _Addresses(database.database_url(settings), database.owner_url(settings))
        return
    with embedded.hold(settings.home) as server:
        yield _Addresses(server.url, server.owner_url)


def _keep(settings: Settings) -> None:
    embedded.ensure(settings.home, patience=5)  # restart a PostgreSQL that was killed


@dataclass(frozen=True, slots=True)
class _Entry:
    """How the operator gets in.  link: works once; token: None after the first start."""

    link: str = field(repr=False)
    token: str | None = field(repr=False)


def _prepare(settings: Settings, addresses: _Addresses, place: ListenAddress) -> _Entry:
    """Migrate as the tables' owner, and create the operator at the first start."""
    home.secret_key(settings)
    owner, engine = (
        make_engine(url, pool_size=1, application_name="fairlane up") for url in (addresses.owner, addresses.service)
    )
    try:
        migrate(owner, role=engine.url.username, allow_newer=True)
        uow = UnitOfWork(engine)
        _refuse_unserved(uow)
        click.echo(f"data in {settings.home}")
        click.echo(f"local repositories in {settings.local_repos_root}")
        token = _operator_token(settings, uow)
        operator = accounts.find_person(uow, OPERATOR)
        link = sessions.sign_in_link(uow, operator.user_id, actor=actor(), now=uow.now())
        if token:  # now as well: whoever stops before the service is ready could never read it
            click.echo(f"API token of {OPERATOR} (shown at this start only): {token}")
        return _Entry(f"{settings.public_url or place.url}/sign-in?token={link}", token)
    finally:
        owner.dispose()
        engine.dispose()


def _refuse_unserved(uow: UnitOfWork) -> None:
    """Refuse a database whose schema this release cannot work with.  Raises: BadSetting."""
    found, _ = schema_of_database(uow)
    if found != "ok":
        raise BadSetting(f"The database cannot be used: {found}")


def _operator_token(settings: Settings, uow: UnitOfWork) -> str | None:
    try:
        account = accounts.add_user(
            uow, OPERATOR, tier=settings.default_tier, is_operator=True, actor="fairlane up", now=uow.now()
        )
    except Problem:  # created at an earlier start
        return None
    made = tokens.add_token(
        uow, account.user_id, scopes=tokens.SCOPES, name="first start", actor="fairlane up", now=uow.now()
    )
    return made.secret


def _refuse_taken(place: ListenAddress) -> None:
    with socket.socket(socket.AF_INET6 if ":" in place.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((place.host, place.port))
        except OSError as error:
            raise Problem(f"Cannot serve at {place.url}: {error.strerror}; choose another --port") from error


def _ready(place: ListenAddress, root: Root, entry: _Entry, *, opens: bool) -> None:
    """Say how to begin, in the last lines, now that jobs are worked on: the output of all processes came before."""
    command = sys.argv[0] if sys.argv[0].endswith("/fairlane") else "fairlane"
    for address in root.addresses[:1]:
        click.echo(f"to try it: {command} submit {address} --wait")
    token = f"  API token (shown at this start only): {entry.token}" if entry.token else ""
    click.echo(f"ready {place.url}  sign in as {OPERATOR} (works once): {entry.link}{token}")
    sys.stdout.flush()
    if opens and sys.stdout.isatty() and os.environ.get("DISPLAY", "") != "":
        webbrowser.open(place.url)
