"""Whether the database is well: its size, its tables, its connections and its schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.services.operations.readiness import serves, this_release
from app.store.core import schema
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import database_facts

TABLES = 5


@dataclass(frozen=True, slots=True)
class TableFacts:
    """bytes: with indexes; live, dead: estimated rows; dead ones wait for vacuum."""

    name: str
    bytes: int
    live: int
    dead: int
    vacuumed_at: datetime | None


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """bytes: of the database; connections: of the server, most_connections: its limit.

    revision: of the schema; migrations: `ok`, or why this release cannot serve it.
    """

    bytes: int
    version: str
    connections: int
    most_connections: int
    revision: str | None
    migrations: str
    tables: Sequence[TableFacts]


def database_health(uow: UnitOfWork) -> DatabaseHealth:
    """As PostgreSQL's statistics say now; they may be some seconds old."""
    with uow.begin() as tx:
        facts, rows = database_facts.facts(tx), database_facts.tables(tx, most=TABLES)
        revision, oldest = schema.revision(tx.connection), schema.oldest(tx.connection)
    return DatabaseHealth(
        facts.bytes, facts.version, facts.connections, facts.most_connections, revision,
        serves(this_release(), revision, oldest), [TableFacts(**row) for row in rows],
    )  # fmt: skip
