"""Databases of the run's PostgreSQL: copies of one migrated template, which are emptied between tests rather than made anew."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import psycopg2
from sqlalchemy import Engine, create_engine, event, pool
from sqlalchemy.engine import URL, make_url
from sqlalchemy.pool import QueuePool

from app import embedded
from app.migrate import migrate
from app.store.connections import make_engine

TEMPLATE = "fairlane_template"
#: Filled by migrations, and put back as they left them.
KEPT = ("alembic_version", "kombu_queue", "kombu_schema", "schema_support", "subscription_plans")

#: Sessions of the application that are kept for the next test.
SPARE = 4

# Nobody else may be connected: a worker that was killed a moment ago still has a session.
END_SESSIONS = """
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> ALL (%s)"""
# As a new session has it; what it has compiled stays.
AS_NEW = "RESET ALL; SELECT pg_advisory_unlock_all(); UNLISTEN *"
# A row's xmin is the transaction that wrote it.  Those of pg_class are left out: VACUUM and TRUNCATE write there, too.
SCHEMA = """
    SELECT md5(string_agg(one, ',' ORDER BY one)) FROM (
        SELECT concat_ws(':', tableoid, attrelid, attnum, xmin) FROM pg_attribute WHERE attrelid >= 16384
        UNION ALL SELECT concat_ws(':', oid, relname, relkind, relowner, relacl, reloptions, relrowsecurity)
                    FROM pg_class WHERE oid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_proc WHERE oid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_trigger WHERE oid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_constraint WHERE oid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, indexrelid, xmin) FROM pg_index WHERE indexrelid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_type WHERE oid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_namespace
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_extension
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_policy
        UNION ALL SELECT concat_ws(':', tableoid, objoid, classoid, objsubid, description)
                    FROM pg_description WHERE objoid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, defaclrole, defaclobjtype, defaclacl) FROM pg_default_acl
        UNION ALL SELECT concat_ws(':', setrole, setconfig) FROM pg_db_role_setting
                    JOIN pg_database ON setdatabase = pg_database.oid AND datname = current_database()
        UNION ALL SELECT concat_ws(':', datacl, datdba, datallowconn, datconnlimit)
                    FROM pg_database WHERE datname = current_database()
    ) AS rows (one)"""
# TRUNCATE makes a new file for each table and index, 3 ms apiece; deleting a few rows takes a tenth.
# As a replica the session runs no triggers and checks no references, so that the order is free.
EMPTY = """
    DO $$
    DECLARE
        one record;
    BEGIN
        SET LOCAL session_replication_role = replica;
        FOR one IN
            SELECT oid::regclass AS name, pg_relation_size(oid) AS bytes FROM pg_class
             WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> ALL (%(kept)s)
        LOOP
            IF one.bytes > 1048576 THEN
                EXECUTE format('TRUNCATE %%s CASCADE', one.name);
            ELSIF one.bytes > 0 THEN
                EXECUTE format('DELETE FROM %%s', one.name);
            END IF;
        END LOOP;
        PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence
          WHERE pg_sequence_last_value(seqrelid) IS NOT NULL AND seqrelid <> 'queue_id_sequence'::regclass;
    END $$"""


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


class Emptied:
    """One database for many tests, which each find it as the migrations left it.

    It keeps its own session, too.
    """

    def __init__(self, server: embedded.Server, url: str, stack: ExitStack) -> None:
        self.url = url
        self.sessions = Sessions(url)
        stack.callback(self.sessions.close)
        self._admin_url = make_url(server.admin_url).set(database=make_url(url).database)
        self._stack = stack
        self._cursor = self._connect()
        self._schema = _schema(self._cursor)
        self._kept = {table: _rows(self._cursor, table) for table in KEPT}

    def clean(self) -> bool:
        """End others' sessions and take out all rows; False if a test changed more than rows: then it is of no use."""
        try:
            self._end_sessions()
        except psycopg2.OperationalError:  # the test ended all sessions, or the server
            self._cursor = self._connect()
            self._end_sessions()
        if _schema(self._cursor) != self._schema:
            return False
        self._cursor.execute(EMPTY, {"kept": list(KEPT)})
        self._cursor.execute("SELECT pg_stat_reset()")  # counts deadlocks, for one
        for table, rows in self._kept.items():
            if _rows(self._cursor, table) != rows:
                self._put_back(table, rows)
        return True

    def _connect(self) -> Any:
        return self._stack.enter_context(_session(self._admin_url))

    def _end_sessions(self) -> None:
        self._cursor.execute(END_SESSIONS, [[self._cursor.connection.info.backend_pid, *self.sessions.renew()]])

    def _put_back(self, table: str, rows: str) -> None:
        self._cursor.execute("SET session_replication_role = replica")
        self._cursor.execute(f"DELETE FROM {table}")
        self._cursor.execute(f"INSERT INTO {table} SELECT * FROM json_populate_recordset(NULL::{table}, %s)", [rows])
        self._cursor.execute("RESET session_replication_role")


@dataclass
class Databases:
    """Makes databases on the run's server, and keeps one that tests share one after another."""

    server: embedded.Server
    template: str
    _stack: ExitStack = field(default_factory=ExitStack)
    _shared: Emptied | None = None

    def emptied(self) -> str:
        """The URL of the shared database, empty: 20 ms, where a copy takes a third of a second."""
        if self._shared is None or not self._shared.clean():
            self.close()
            self._shared = Emptied(self.server, self._stack.enter_context(self.copy()), self._stack)
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
        run_sql(self.server.admin_url, f"CREATE DATABASE {name} OWNER {url.username} {options}")
        yield url.set(database=name).render_as_string(hide_password=False)
        run_sql(self.server.admin_url, f"DROP DATABASE {name} WITH (FORCE)")

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
            run_sql(server.admin_url, f"CREATE DATABASE making OWNER {owner}")
            engine = create_engine(make_url(server.url).set(database="making"), poolclass=pool.NullPool)
            migrate(engine)
            run_sql(server.admin_url, f"ALTER DATABASE making RENAME TO {TEMPLATE}")
    return TEMPLATE


def run_sql(url: str | URL, statement: str) -> list[tuple[object, ...]]:
    """What one statement gives, in a session and transaction of its own."""
    with _session(url) as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def _session(url: str | URL) -> Iterator[Any]:
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with closing(psycopg2.connect(plain)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            yield cursor


def _schema(cursor: Any) -> str:
    cursor.execute(SCHEMA)
    return str(cursor.fetchone()[0])


def _rows(cursor: Any, table: str) -> str:
    cursor.execute(f"SELECT json_agg(one ORDER BY one::text)::text FROM {table} AS one")
    return str(cursor.fetchone()[0])
