"""The broker's schema: which version a database has, and how it gets this package's.

    from celery_durable import schema

    schema.upgrade(connection, to=6)    # a psycopg2 connection, or a SQLAlchemy Connection or Session; then commit

Call it from a migration of Alembic or Django, or by hand, whenever the package has changed.  A migration names the
version that it brings: then it makes the same tables and functions with each later package.  A worker never upgrades:
several processes that create tables at first use race, and some die.

    python -m celery_durable.schema postgresql://me@localhost/shop [SCHEMA]
"""

import sys
from collections.abc import Mapping
from contextlib import closing
from importlib.resources import files
from typing import Any

import psycopg2

from .database import connect_arguments, runner
from .errors import BadOption, NewerSchema, OlderSchema
from .names import fill
from .options import read_options

#: Of the tables and functions in `sql/`.  It grows with each change of them; tests/test_schema.py holds that.  A file
#: that changes is first copied to `sql/VERSION/`, where `read` finds what an older version had.
VERSION = 6
TABLES = "tables.sql"
FUNCTIONS = (
    "publish.sql", "claim.sql", "settle.sql", "upkeep.sql", "groups.sql", "dead_letters.sql", "counting.sql",
    "group_counting.sql", "interface.sql",
)  # fmt: skip

#: The oldest version that this package still makes, and brings up to date.
OLDEST = 4
#: version -> what makes a database of the version before to one of it.  All functions and views are replaced after
#: that, so these change tables, and drop functions whose signature changes.
STEPS: Mapping[int, str] = {
    5: "",  # functions only: what is to be cancelled is not parked
    6: """
        ALTER TABLE kombu_node ADD suspected_at timestamptz;
        CREATE UNLOGGED TABLE kombu_judgement (
            judged_at timestamptz NOT NULL,
            any_leases boolean NOT NULL,
            only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one));""",
}

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('{channel} schema', 0))"
_IS_THERE = "SELECT to_regclass('{schema}kombu_message') IS NOT NULL, to_regclass('{schema}kombu_schema') IS NOT NULL"
_VERSION = "SELECT version FROM {schema}kombu_schema"
_RAISE = "UPDATE {schema}kombu_schema SET version = %(version)s"
_PATH = "SELECT current_setting('search_path')"
_SET_PATH = "SELECT set_config('search_path', %(path)s, true)"


def current(connection: Any, options: Mapping[str, Any] | None = None) -> int | None:
    """The version of the database; 0: from before there were versions; None: there are no tables.

    connection: as of `upgrade`; options: `broker_transport_options`, needed only when they name a schema.
    """
    return _current(_Database(connection, options))


def upgrade(connection: Any, options: Mapping[str, Any] | None = None, *, to: int = VERSION) -> int:
    """Create the tables and functions of a version, or bring them to it, in the caller's transaction.

    -> the version that the database has then.  connection: psycopg2's, or a Connection or Session of SQLAlchemy;
    options: as of `current`; to: OLDEST to VERSION.  A database of that version or a later one is left as it is.  Safe
    at once from many processes: the others wait for the commit of the first.  Locks: an advisory lock, and the tables
    that a step changes.  Raises: NewerSchema, OlderSchema, ValueError for another version, and nothing is changed then.
    """
    if not OLDEST <= to <= VERSION:
        raise ValueError(f"to: a version from {OLDEST} to {VERSION}, not {to}")
    database = _Database(connection, options)
    database.run(_LOCK)
    found = _current(database)
    if found is not None and found > VERSION:
        raise NewerSchema(found, VERSION)
    if found is not None and found < OLDEST:
        raise OlderSchema(found, OLDEST)
    if found is not None and found >= to:
        return found
    tables = [read(TABLES, to)] if found is None else [STEPS[version] for version in range(found + 1, to + 1)]
    [(path,)] = database.run(_PATH)
    database.run(_SET_PATH, {"path": database.options.schema or path})
    for statements in filter(None, (*tables, *(read(name, to) for name in FUNCTIONS))):
        database.run(statements)
    database.run(_SET_PATH, {"path": path})
    database.run(_RAISE, {"version": to})
    return to


def read(name: str, version: int = VERSION) -> str:
    """The statements of a file at a version, with {names} to fill in."""
    folder = files(__package__).joinpath("sql")
    kept = (folder.joinpath(str(number), name) for number in range(version, VERSION))
    return next((file for file in kept if file.is_file()), folder.joinpath(name)).read_text(encoding="utf-8")


class _Database:
    """Runs statements of this package in the transaction of a connection."""

    def __init__(self, connection: Any, options: Mapping[str, Any] | None) -> None:
        self._run, self.options = runner(connection), read_options(options or {})

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """parameters: None: of a statement that has none, where a % is a %."""
        text = fill(statement, self.options)
        rows = self._run(text.replace("%", "%%") if parameters is None else text, parameters or {})
        return [tuple(row) for row in rows]


def _current(database: _Database) -> int | None:
    [(has_messages, has_version)] = database.run(_IS_THERE)
    if has_version:
        [(version,)] = database.run(_VERSION)
        return int(version)
    return 0 if has_messages else None


def main(arguments: list[str]) -> str | None:
    """The command.  arguments: the URL, and a schema.  -> what was wrong with them, or None."""
    if not 1 <= len(arguments) <= 2:
        return "usage: python -m celery_durable.schema postgresql://USER:PASSWORD@HOST/DATABASE [SCHEMA]"
    url, *schema = arguments
    try:
        with closing(psycopg2.connect(**connect_arguments(url.removeprefix("durable+")))) as connection, connection:
            print(f"version {upgrade(connection, {'schema': schema[0]} if schema else None)}")  # noqa: T201  the command's output
    except (psycopg2.Error, BadOption, NewerSchema, OlderSchema, ValueError) as error:
        return f"celery_durable.schema: {str(error).strip()}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
