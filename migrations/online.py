"""Steps of migrations that leave a big table usable while they run (docs/adr/0044).

Each is outside of a transaction and without time-outs, may be interrupted at any moment, and continues when the
migration is run again.  Migrations call these functions years later: they change only so that the result is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import op
from sqlalchemy import Connection, text

_TIMEOUTS = ("lock_timeout", "statement_timeout")
_GET = text("SELECT current_setting(:name)")
_SET = text("SELECT set_config(:name, :value, false)")
_IS_VALID = text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")
_IS_VALIDATED = text("""
    SELECT convalidated FROM pg_constraint WHERE conrelid = to_regclass(:table) AND conname = :name""")
_IS_LEFT = text("SELECT done < upto FROM backfills WHERE name = :name")


@contextmanager
def online() -> Iterator[Connection]:
    """Commit what the migration did so far, and run each statement by itself.

    No statement has a time-out: none of them holds a lock that readers or writers wait for.
    """
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        before = {name: connection.execute(_GET, {"name": name}).scalar_one() for name in _TIMEOUTS}
        try:
            for name in _TIMEOUTS:
                connection.execute(_SET, {"name": name, "value": "0"})
            yield connection
        finally:
            for name, value in before.items():
                connection.execute(_SET, {"name": name, "value": value})


def create_index(name: str, definition: str, *, is_unique: bool = False) -> None:
    """Create an index on an existing table while it is written.  definition: what follows the name, `ON table (…)`.

    An index that an interrupted build left is made anew.  Of a unique one that is an error when two rows are the same.
    """
    kind = "UNIQUE INDEX" if is_unique else "INDEX"
    with online() as connection:
        if connection.execute(_IS_VALID, {"name": name}).scalar_one_or_none() is False:
            connection.execute(text(f"DROP INDEX CONCURRENTLY {name}"))
        connection.execute(text(f"CREATE {kind} CONCURRENTLY IF NOT EXISTS {name} {definition}"))


def drop_index(name: str) -> None:
    """Drop an index while its table is written, if it is there."""
    with online() as connection:
        connection.execute(text(f"DROP INDEX CONCURRENTLY IF EXISTS {name}"))


def validate(table: str, constraint: str) -> None:
    """Check the rows of before a constraint that was added as NOT VALID, while the table is written."""
    with online() as connection:
        if not connection.execute(_IS_VALIDATED, {"table": table, "name": constraint}).scalar_one():
            connection.execute(text(f"ALTER TABLE {table} VALIDATE CONSTRAINT {constraint}"))


def in_batches(statement: str) -> None:
    """Run a statement that changes a bounded number of rows until it finds none."""
    with online() as connection:
        while connection.execute(text(statement)).rowcount:
            pass


def backfill(name: str, batch: str) -> None:
    """Run a batch until its row of the table `backfills`, which it moves on in its own transaction, is done."""
    with online() as connection:
        while connection.execute(_IS_LEFT, {"name": name}).scalar_one():
            connection.execute(text(batch))
