"""Predict what pending migrations do to a database (docs/adr/0044)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection

from app.store.core import schema

#: What one pass of an index build or of a backfill reads at least (docs/measurements.md).
ROWS_PER_SECOND = 300_000


@dataclass(frozen=True, slots=True)
class MigrationStep:
    """A pending migration.

    does: in one sentence; locks: table -> the strongest lock, held for a moment, for which writers wait; online: table
    -> what is done to all of it while it is read and written.
    """

    revision: str
    does: str
    locks: Mapping[str, str]
    online: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table that a migration works on.

    rows: as last counted by ANALYZE; bytes: with indexes; online_seconds: about how long its online steps take.
    """

    rows: int
    bytes: int
    online_seconds: int


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The pending migrations and the tables that they affect.

    revision: the database's, None before the first migration; tables: those that exist, by name.
    """

    revision: str | None
    head: str
    steps: list[MigrationStep]
    tables: Mapping[str, Table]


def planned(connection: Connection, scripts: ScriptDirectory) -> MigrationPlan:
    """The migrations that the database lacks, in their order, and the sizes of the tables that they touch."""
    revision, head = schema.revision(connection), scripts.get_current_head() or ""
    steps = [_step(script) for script in scripts.iterate_revisions(head, revision or "base")][::-1]
    touched = [table for step in steps for table in {**step.locks, **step.online}]
    passes = [table for step in steps for table in step.online]
    tables = {
        name: Table(rows, size, passes.count(name) * rows // ROWS_PER_SECOND)
        for name, (rows, size) in sorted(schema.sizes(connection, touched).items())
    }
    connection.rollback()
    return MigrationPlan(revision, head, steps, tables)


def _step(script: Script) -> MigrationStep:
    does = " ".join((script.module.__doc__ or "").strip().split("\n\n")[0].split())
    return MigrationStep(
        script.revision, does, getattr(script.module, "LOCKS", {}), getattr(script.module, "ONLINE", {})
    )
