"""Databases of the run's PostgreSQL: copies of one migrated template, which are emptied between tests rather than made anew."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from durable_harness.emptied import Emptied, session
from durable_harness.waiting import PATIENCE_SECONDS
from psycopg2 import errors
from sqlalchemy import Engine, create_engine, event, pool
from sqlalchemy.engine import URL, make_url
from sqlalchemy.pool import QueuePool

from app import embedded
from app.migrate import migrate
from app.store.core.connections import make_engine

TEMPLATE = "fairlane_template"
#: Filled by migrations, and put back as they left them.
KEPT = (
    "alembic_version",
    "backfills",
    "durable_queue",
    "event_totals_position",
    "kombu_schema",
    "schema_support",
    "subscription_plans",
)

#: Queues are known by their numbers in processes that live longer.
SEQUENCES = ("queue_id_sequence",)

#: Sessions of the application that are kept for the next test.
SPARE = 4

# As a new session has it; what it has compiled stays.
AS_NEW = "RESET ALL; SELECT pg_advisory_unlock_all(); UNLISTEN *"


#: How many sessions of this database wait for a lock.  The views of sessions and locks show the whole server, where other
#: tests work at the same time.
LOCK_WAITS = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"""

#: Autovacuum may come at any moment of a test, and a table that it has been to makes other plans as cheap.
UNVACUUMED = """
    DO $$ DECLARE one regclass; BEGIN
        FOR one IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
            EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', one);
        END LOOP;
    END $$"""

#: Limits of the service's sessions that nobody reaches on a busy machine.
PATIENT = {"idle_in_transaction_session_timeout": "55s", "lock_timeout": "58s"}

#: On a busy machine a connection may take longer than the service waits by itself.
CONNECT_SECONDS = "60"


class Sessions:
    """The application's sessions at a database that tests share one after another.

    A new session reads the catalogue and compiles every function that it calls, which takes longer than most tests.
    """

    def __init__(self, url: str) -> None:
        self._engine = make_engine(url, pool_size=20)
        self._pids: dict[int, int] = {}  # by the identity of the connection
        event.listen(self._engine, "connect", self._note)
        event.listen(self._engine, "close", lambda connection, _: self._pids.pop(id(connection), None))

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """An engine for one test, which may listen to it and dispose of it."""
        shared = self._engine
        mine = Engine(shared.pool, shared.dialect, shared.url, hide_parameters=True)
        yield mine
        if mine.pool is not shared.pool:
            mine.pool.dispose()

    def renew(self) -> list[int]:
        """Make all sessions as new, and end those that a test has left at work or that are many; -> whose are left."""
        pool = self._engine.pool
        assert isinstance(pool, QueuePool)
        if pool.checkedout() or pool.checkedin() > SPARE:
            self.close()
        idle = [pool.connect() for _ in range(pool.checkedin())]
        for connection in idle:
            with closing(connection), connection.cursor() as cursor:
                cursor.execute(AS_NEW)
                connection.commit()
        return list(self._pids.values())

    def close(self) -> None:
        self._engine.dispose()

    def _note(self, connection: Any, _: object) -> None:
        self._pids[id(connection)] = connection.info.backend_pid


@dataclass(frozen=True)
class Shared:
    """One database for many tests, which each find it as the migrations left it."""

    url: str
    rows: Emptied
    sessions: Sessions


@dataclass
class Databases:
    """Makes databases on the run's server, and keeps one that tests share one after another."""

    server: embedded.Server
    template: str
    _stack: ExitStack = field(default_factory=ExitStack)
    _shared: Shared | None = None

    def emptied(self) -> str:
        """The URL of the shared database, empty: 20 ms, where a copy takes a third of a second."""
        if self._shared is None or not self._shared.rows.clean():
            self.close()
            self._shared = self._share(self._stack.enter_context(self.copy()))
        return self._shared.url

    @contextmanager
    def engine(self, url: str) -> Iterator[Engine]:
        """An engine of a database; its sessions outlive the test if it is the shared one."""
        if self._shared and self._shared.url == url:
            with self._shared.sessions.engine() as engine:
                yield engine
        else:
            engine = make_engine(url, pool_size=20)
            yield engine
            engine.dispose()

    @contextmanager
    def copy(self) -> Iterator[str]:
        """The URL of a migrated database of its own."""
        with self.new(f"TEMPLATE {self.template} STRATEGY file_copy") as url:
            yield url

    @contextmanager
    def new(self, options: str = "", *, as_owner: bool = False) -> Iterator[str]:
        """The URL of a database that was never migrated; dropped with its sessions at the end.

        as_owner: of the role for migrations, not the application's.
        """
        name, url = f"test_{uuid4().hex}", make_url(self.server.owner_url if as_owner else self.server.url)
        url = url.update_query_dict({"connect_timeout": CONNECT_SECONDS})
        run_sql(self.server.admin_url, f"CREATE DATABASE {name} OWNER {url.username} {options}")
        yield url.set(database=name).render_as_string(hide_password=False)
        run_sql(self.server.admin_url, f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def rows_of(self, url: str) -> Iterator[Emptied]:
        """Takes rows out of a database again and again; what stands in it now is kept."""
        with ExitStack() as stack:
            admin_url = _plain(make_url(self.server.admin_url).set(database=make_url(url).database))
            yield Emptied(admin_url, stack, kept=filled(admin_url), sequences=SEQUENCES)

    def _share(self, url: str) -> Shared:
        admin_url = make_url(self.server.admin_url).set(database=make_url(url).database)
        sessions = Sessions(url)
        self._stack.callback(sessions.close)
        rows = Emptied(_plain(admin_url), self._stack, kept=KEPT, sequences=SEQUENCES, spared=sessions.renew)
        return Shared(url, rows, sessions)

    def close(self) -> None:
        """Drop the shared one."""
        self._stack.close()
        self._shared = None


def template(server: embedded.Server) -> str:
    """The name of a migrated database to copy; made once per run, by the first process that asks."""
    with (server.data.parent / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not run_sql(server.admin_url, f"SELECT 1 FROM pg_database WHERE datname = '{TEMPLATE}'"):
            owner = make_url(server.url).username
            run_sql(server.admin_url, "DROP DATABASE IF EXISTS making WITH (FORCE)")  # of one that failed
            run_sql(server.admin_url, f"CREATE DATABASE making OWNER {owner}")
            engine = create_engine(make_url(server.url).set(database="making"), poolclass=pool.NullPool)
            migrate(engine)
            run_sql(server.admin_url, f"ALTER DATABASE making RENAME TO {TEMPLATE}")
    return TEMPLATE


def filled(url: str | URL) -> list[str]:
    """Its tables with rows."""
    tables = run_sql(
        url, "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
    )
    return [str(table) for (table,) in tables if run_sql(url, f"SELECT 1 FROM {table} LIMIT 1")]


def run_sql(url: str | URL, statement: str) -> list[tuple[object, ...]]:
    """What one statement gives, in a session and transaction of its own.

    It is repeated while its database is in use: PostgreSQL waits only 5 s for sessions that are ending.
    """
    ends = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with session(_plain(url)) as cursor:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []
        except errors.ObjectInUse:
            if time.monotonic() > ends:
                raise


def _plain(url: str | URL) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
