"""Whether the database is well: its size, its tables, its connections and its schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.services.operations.readiness import serves, this_revision
from app.store.core import schema
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import database_facts
from app.store.operations.database_facts import TableFacts
from app.version import VERSION

TABLES = 5


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """The size, connections and schema of the database.

    bytes: of the database; connections: of the server, most_connections: its limit; oldest_transaction_seconds: of
    those that the role may see; wal_bytes: how long the log has ever become.

    revision: of the schema; migrations: `ok`, or why this release cannot serve it.
    """

    bytes: int
    version: str
    connections: int
    most_connections: int
    oldest_transaction_seconds: float
    wal_bytes: int
    revision: str | None
    migrations: str
    tables: Sequence[TableFacts]


def database_health(uow: UnitOfWork) -> DatabaseHealth:
    """Read PostgreSQL's statistics, which may be some seconds old."""
    with uow.begin() as tx:
        facts, rows = database_facts.facts(tx), database_facts.tables(tx, most=TABLES)
        found = schema.state(tx.connection)
    return DatabaseHealth(
        facts.bytes, facts.version, facts.connections, facts.most_connections, facts.oldest_transaction_seconds,
        facts.wal_bytes, found.revision, serves(VERSION, this_revision(), found), rows,
    )  # fmt: skip
