"""A database with the history of a service that ran for 65 days, and copies of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg2
from celery import Celery
from sqlalchemy.engine import make_url

from app import embedded
from app.adapters.publishing import publisher
from app.migrate import migrate
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork

FILL = Path(__file__).parent / "fill.sql"


def make(server: embedded.Server, name: str, sizes: Mapping[str, int], *files: Path) -> None:
    """Migrate and fill a database unless it is there.  files: of statements, which name the sizes in braces."""
    if run(server.admin_url, f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
        return
    began = time.monotonic()
    run(server.admin_url, "DROP DATABASE IF EXISTS filling WITH (FORCE)")  # of a run that was stopped
    run(server.admin_url, f"CREATE DATABASE filling OWNER {make_url(server.owner_url).username}")
    _migrate(server, "filling")
    for file in files:
        statements = file.read_text(encoding="utf-8").format(**sizes)
        run(server.admin_url, *filter(str.strip, statements.split(";\n")), database="filling")
    run(server.admin_url, f"ALTER DATABASE filling RENAME TO {name}")
    print(f"filled {name} in {time.monotonic() - began:.0f} s", flush=True)


@contextmanager
def copy(server: embedded.Server, name: str) -> Iterator[UnitOfWork]:
    """A copy of a filled database, as the application's role."""
    owner = make_url(server.owner_url).username
    run(server.admin_url, "DROP DATABASE IF EXISTS copied WITH (FORCE)")
    run(server.admin_url, f"CREATE DATABASE copied OWNER {owner} TEMPLATE {name} STRATEGY file_copy")
    _migrate(server, "copied")
    try:
        with used(server, "copied") as uow:
            yield uow
    finally:
        run(server.admin_url, "DROP DATABASE copied WITH (FORCE)")


@contextmanager
def used(server: embedded.Server, name: str) -> Iterator[UnitOfWork]:
    """A database, as the application's role."""
    engine = make_engine(make_url(server.url).set(database=name).render_as_string(hide_password=False))
    try:
        yield UnitOfWork(engine, publisher(Celery("bench", set_as_current=False, broker="memory://")))
    finally:
        engine.dispose()


def run(url: str, *statements: str, database: str | None = None) -> list[tuple[object, ...]]:
    """Execute statements in one session; -> the rows of the last."""
    address = make_url(url).set(drivername="postgresql")
    address = address.set(database=database) if database else address
    with closing(psycopg2.connect(address.render_as_string(hide_password=False))) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []


def _migrate(server: embedded.Server, name: str) -> None:
    engine = make_engine(make_url(server.owner_url).set(database=name).render_as_string(hide_password=False))
    migrate(engine, role=make_url(server.url).username)
    engine.dispose()
