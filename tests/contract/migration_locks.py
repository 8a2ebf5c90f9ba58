"""What migrations lock, read and write anew, as PostgreSQL itself tells it before each commit (docs/adr/0044)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, event

#: Locks that writers wait for; stronger last.
BLOCKING = {
    "ShareLock": "SHARE",
    "ShareRowExclusiveLock": "SHARE ROW EXCLUSIVE",
    "ExclusiveLock": "EXCLUSIVE",
    "AccessExclusiveLock": "ACCESS EXCLUSIVE",
}
#: Tables of a few rows, in the largest database.
SMALL = {
    "alembic_version",
    "backfills",
    "durable_queue",
    "kombu_queue",
    "kombu_schema",
    "schema_support",
    "subscription_plans",
}
#: What may be done outside of a transaction: no other session waits for it, or only for the few rows of a batch.
ONLINE = re.compile(
    r"\s*(--.*\n)*\s*(CREATE( UNIQUE)? INDEX CONCURRENTLY|DROP INDEX CONCURRENTLY|ALTER TABLE \w+ VALIDATE CONSTRAINT"
    r"|DO\b|SELECT\b|(UPDATE|DELETE|INSERT)\b(?=[\s\S]*\bLIMIT \d))"
)
_TABLES = """
    SELECT oid, relname, relfilenode FROM pg_class
     WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"""
_LOCKS = "SELECT relation, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'"
_SCANS = "SELECT relid, seq_scan FROM pg_stat_xact_user_tables"


@dataclass
class Record:
    """locks: table that was there before -> the strongest lock that writers wait for; faults: what no migration may do."""

    locks: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _tables: dict[int, tuple[str, int]] = field(default_factory=dict)
    _scans: dict[int, int] = field(default_factory=dict)

    def note(self, connection: Connection) -> None:
        """At the beginning of a transaction.  The counts are of the session, and are emptied between transactions."""
        self._scans = dict(_rows(connection, _SCANS))

    def judge(self, connection: Connection) -> None:
        """Before its commit."""
        for oid, mode in _rows(connection, _LOCKS):
            if oid in self._tables and mode in BLOCKING:
                name = self._tables[oid][0]
                self.locks[name] = max(self.locks.get(name, "SHARE"), BLOCKING[mode], key=list(BLOCKING.values()).index)
        for oid, scans in _rows(connection, _SCANS):
            name = self._tables.get(oid, ("", 0))[0]
            if name and name not in SMALL and scans > self._scans.get(oid, 0):
                self.faults.append(f"{name} is read from end to end in a transaction")
        for oid, name, file in _rows(connection, _TABLES):
            if oid in self._tables and self._tables[oid][1] != file:
                self.faults.append(f"{name} is written anew")


def _rows(connection: Connection, query: str) -> list[Any]:
    with connection.connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


@contextmanager
def recorded(engine: Engine) -> Iterator[Record]:
    """Record what the connections of an engine do to the tables that are there now."""
    record = Record()
    with engine.connect() as connection:
        record._tables = {oid: (name, file) for oid, name, file in _rows(connection, _TABLES)}

    def commit(connection: Connection) -> None:
        if not connection.connection.dbapi_connection.autocommit:  # type: ignore[union-attr]
            record.judge(connection)

    def begin(connection: Connection) -> None:
        if not connection.connection.dbapi_connection.autocommit:  # type: ignore[union-attr]
            record.note(connection)

    def execute(connection: Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if connection.connection.dbapi_connection.autocommit and not ONLINE.match(statement):  # type: ignore[union-attr]
            record.faults.append(f"outside of a transaction: {' '.join(statement.split())}")

    listeners = {"begin": begin, "commit": commit, "before_cursor_execute": execute}
    for name, listener in listeners.items():
        event.listen(engine, name, listener)
    yield record
    for name, listener in listeners.items():
        event.remove(engine, name, listener)


def undeclared(record: Record, module: Any) -> dict[str, str]:
    """The locks that a migration takes and does not declare in LOCKS, and those that it declares and does not take.

    A new database has the broker's newest version from the beginning, so later steps of the broker lock nothing there.
    """
    declared = getattr(module, "LOCKS", {}).items()
    of_broker = "kombu_" if hasattr(module, "BROKER_VERSION") else "no table"
    idle = {(table, mode) for table, mode in declared - record.locks.items() if not table.startswith(of_broker)}
    return dict((record.locks.items() - declared) | idle)
