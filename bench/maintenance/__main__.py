"""Time the maintenance tasks and the operator's report: `python -m bench.maintenance HOME [TASK ...] [--jobs N]`.

HOME keeps the database between runs.  Each task works on a copy of it, which is dropped afterwards.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
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
from bench.maintenance.timed import TASKS

FILL = Path(__file__).parent / "fill.sql"


def main() -> None:
    """Make the database if it is not there, and run the tasks that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m bench.maintenance", description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("tasks", nargs="*", choices=[[], *TASKS], help="the tasks to time; default: all")
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--daily", type=int, default=100_000, help="jobs of the last day")
    parser.add_argument("--repositories", type=int, default=200_000)
    parser.add_argument("--users", type=int, default=10_000)
    given = parser.parse_args()
    with embedded.hold(given.home, durable=False) as server:
        if not run(server.admin_url, "SELECT 1 FROM pg_database WHERE datname = 'filled'"):
            make(server, given)
        for name in given.tasks or TASKS:
            with copy(server) as uow:
                TASKS[name](uow)


def make(server: embedded.Server, size: argparse.Namespace) -> None:
    """Migrate and fill a database."""
    began = time.monotonic()
    run(server.admin_url, "DROP DATABASE IF EXISTS filling WITH (FORCE)")  # of a run that was stopped
    run(server.admin_url, f"CREATE DATABASE filling OWNER {make_url(server.owner_url).username}")
    engine = make_engine(make_url(server.owner_url).set(database="filling").render_as_string(hide_password=False))
    migrate(engine, role=make_url(server.url).username)
    engine.dispose()
    statements = FILL.read_text(encoding="utf-8").format(**vars(size))
    run(server.admin_url, *filter(str.strip, statements.split(";\n")), database="filling")
    run(server.admin_url, "ALTER DATABASE filling RENAME TO filled")
    print(f"filled in {time.monotonic() - began:.0f} s")


@contextmanager
def copy(server: embedded.Server) -> Iterator[UnitOfWork]:
    """A copy of the filled database, as the application's role."""
    owner = make_url(server.owner_url).username
    run(server.admin_url, "DROP DATABASE IF EXISTS copied WITH (FORCE)")
    run(server.admin_url, f"CREATE DATABASE copied OWNER {owner} TEMPLATE filled STRATEGY file_copy")
    engine = make_engine(make_url(server.owner_url).set(database="copied").render_as_string(hide_password=False))
    migrate(engine, role=make_url(server.url).username)
    engine.dispose()
    engine = make_engine(make_url(server.url).set(database="copied").render_as_string(hide_password=False))
    try:
        yield UnitOfWork(engine, publisher(Celery("bench", set_as_current=False, broker="memory://")))
    finally:
        engine.dispose()
        run(server.admin_url, "DROP DATABASE copied WITH (FORCE)")


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


if __name__ == "__main__":
    main()
