"""`fairlane up`: database, migrations, web, workers and beat in one process tree."""

from __future__ import annotations

import os
import socket
import sys
import urllib.request
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import click

from app import database, embedded, home, supervisor
from app.cli.wiring import now
from app.domain.queues import ALL_QUEUES, SUFFIXES, Service
from app.errors import Problem
from app.migrate import migrate
from app.services import accounts
from app.settings import Settings, load
from app.store.connections import make_engine
from app.store.unit_of_work import UnitOfWork
from app.supervisor import Child

OPERATOR = "operator@localhost"
GRACE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Place:
    """Where it serves."""

    host: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option(
    "--workers",
    type=click.Choice(["tier", "queue"]),
    default="queue",
    show_default=True,
    help="One Celery node per queue, or one per tier that serves both services (less memory).",
)
def up(host: str, port: int, *, no_open: bool, workers: str) -> None:
    """Run everything until Ctrl-C: PostgreSQL, migrations, web, workers and beat."""
    settings, place = load(), _Place(host, port)
    folder = home.folder(settings)
    with supervisor.alone(folder, place.url):
        _refuse_taken(place)
        with _database(settings) as url:
            _prepare(settings, url, place)
            sys.exit(
                supervisor.run(
                    _children(settings, url, place, by_tier=workers == "tier"),
                    on_ready=lambda: _ready(place, opens=not no_open),
                    grace=GRACE_SECONDS,
                    watch=None if settings.database_url else lambda: _keep(settings),
                )
            )


@contextmanager
def _database(settings: Settings) -> Iterator[str]:
    """The database's URL; an embedded one runs as long as somebody holds it."""
    if settings.database_url:
        yield database.database_url(settings)
        return
    with embedded.hold(settings.home) as server:
        yield server.url


def _keep(settings: Settings) -> None:
    embedded.ensure(settings.home, patience=5)  # a PostgreSQL that was killed comes back


def _prepare(settings: Settings, url: str, place: _Place) -> None:
    """Migrate, and make the operator at the first start."""
    home.secret_key(settings)
    engine = make_engine(url, pool_size=1, application_name="fairlane up")
    try:
        migrate(engine)
        uow = UnitOfWork(engine)
        click.echo(f"data in {settings.home}")
        token = _operator_token(settings, uow)
        operator = accounts.find_person(uow, OPERATOR)
        link = accounts.sign_in_link(uow, operator.user_id, now=now())
        click.echo(f"sign in as {OPERATOR} (works once): {settings.public_url or place.url}/sign-in?token={link}")
        if token:
            click.echo(f"API token of {OPERATOR} (shown this once): {token}")
    finally:
        engine.dispose()


def _operator_token(settings: Settings, uow: UnitOfWork) -> str | None:
    try:
        account = accounts.add_user(
            uow, OPERATOR, tier=settings.default_tier, is_operator=True, actor="fairlane up", now=now()
        )
    except Problem:  # made at an earlier start
        return None
    made = accounts.add_token(uow, account.user_id, scopes=accounts.SCOPES, name="first start", now=now())
    return made.secret


def _children(settings: Settings, url: str, place: _Place, *, by_tier: bool) -> list[Child]:
    env = {"DATABASE_URL": url, "FAIRLANE_HOME": str(settings.home), "PORT": str(place.port), "PYTHONUNBUFFERED": "1"}
    web = [
        *_python("gunicorn"),
        *("-k", "gthread", "--threads", "32", "--workers", str(settings.web_concurrency)),
        *("--graceful-timeout", "5", "--no-control-socket", "-b", f"{place.host}:{place.port}"),
        "app.web:create_app()",
    ]
    nodes = (
        [(suffix, [f"{service}_{suffix}" for service in Service]) for suffix in SUFFIXES]
        if by_tier
        else [(queue, [queue]) for queue in ALL_QUEUES]
    )
    return [
        Child("web", web, env, ready=lambda: _serves(place)),
        *(Child(name, _worker(settings, name, queues), env) for name, queues in nodes),
        Child("beat", [*_python("celery"), "-A", "tasks", "--quiet", "beat", "--pidfile="], env),
    ]


def _worker(settings: Settings, name: str, queues: list[str]) -> list[str]:
    processes = sum(settings.workers(queue) for queue in queues)
    return [
        *_python("celery"),
        *("-A", "tasks", "--quiet", "worker", "-Q", ",".join(queues), "-c", str(processes), "-n", f"{name}@%h"),
        *("--without-gossip", "--without-mingle"),
    ]


def _python(module: str) -> list[str]:
    # by module, not by script: a script's first line is limited to 127 bytes, which deep folders exceed
    return [sys.executable, "-m", module]


def _serves(place: _Place) -> bool:
    host = "127.0.0.1" if place.host in ("0.0.0.0", "::") else place.host  # noqa: S104 - compared, not bound
    with urllib.request.urlopen(f"http://{host}:{place.port}/readyz", timeout=2) as answer:
        return bool(answer.status == 200)


def _refuse_taken(place: _Place) -> None:
    with socket.socket(socket.AF_INET6 if ":" in place.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((place.host, place.port))
        except OSError as error:
            raise Problem(f"Cannot serve at {place.url}: {error.strerror}; choose another --port") from error


def _ready(place: _Place, *, opens: bool) -> None:
    click.echo(f"ready {place.url}")
    sys.stdout.flush()
    if opens and sys.stdout.isatty() and os.environ.get("DISPLAY", "") != "":
        webbrowser.open(place.url)
