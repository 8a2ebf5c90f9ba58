"""Statements that mend tables and indexes while they are used; each is a transaction of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from app.store.operations.faults.indexes import ExpectedIndex


@contextmanager
def unhurried(engine: Engine) -> Iterator[Connection]:
    """Open a session without time-outs, in which each statement commits by itself.

    What is run in it waits for old transactions, but no reader or writer waits for it.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        try:
            for name in ("lock_timeout", "statement_timeout"):
                connection.exec_driver_sql(f"SET {name} = 0")
            yield connection
        finally:
            connection.invalidate()  # its settings go with it


def vacuum(connection: Connection, table: str) -> None:
    """Remove dead rows.  Locks: the table, SHARE UPDATE EXCLUSIVE."""
    connection.exec_driver_sql(f"VACUUM {_quoted(table)}")


def analyze(connection: Connection, table: str) -> None:
    """Count and sample the rows again.  Locks: the table, SHARE UPDATE EXCLUSIVE."""
    connection.exec_driver_sql(f"ANALYZE {_quoted(table)}")


def analyze_all(connection: Connection) -> None:
    """Count and sample the rows of all tables again.  Locks: each table, SHARE UPDATE EXCLUSIVE."""
    connection.exec_driver_sql("ANALYZE")


def reindex(connection: Connection, index: str) -> None:
    """Build an index anew beside itself.  Locks: the table, SHARE UPDATE EXCLUSIVE."""
    connection.exec_driver_sql(f"REINDEX INDEX CONCURRENTLY {_quoted(index)}")


def drop_index(connection: Connection, index: str) -> None:
    """Drop what is left of an index that was never finished.  Locks: the table, SHARE UPDATE EXCLUSIVE."""
    connection.exec_driver_sql(f"DROP INDEX CONCURRENTLY IF EXISTS {_quoted(index)}")


def create_index(connection: Connection, index: ExpectedIndex) -> None:
    """Build a missing index, and give a constraint its own.

    Locks: the table, SHARE UPDATE EXCLUSIVE; for a constraint ACCESS EXCLUSIVE, for a moment.
    """
    connection.exec_driver_sql(index.statement)
    if index.constraint:
        connection.exec_driver_sql("SET lock_timeout = '1s'")
        added = f"ADD CONSTRAINT {_quoted(index.name)} {index.constraint} USING INDEX {_quoted(index.name)}"
        connection.exec_driver_sql(f"ALTER TABLE {_quoted(index.table)} {added}")
        connection.exec_driver_sql("SET lock_timeout = 0")


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""')).replace("%", "%%")
