"""The broker's schema: which version a database has, and how it gets this package's.

    from celery_durable import schema

    schema.upgrade(connection, to=9)    # a psycopg2 connection, or a SQLAlchemy Connection or Session; then commit

Call it from a migration of Alembic or Django, or by hand, whenever the package has changed.  A migration names the
version that it brings: then it makes the same tables and functions with each later package.  A worker never upgrades:
several processes that create tables at first use race, and some die.

    python -m celery_durable.schema postgresql://me@localhost/shop [SCHEMA] [--grant-worker ROLE]

A role that is not the tables' owner gets its rights from `grant`, or from the command: what each may is in sql/grants.
"""

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from importlib.resources import files
from typing import Any

import psycopg2

from .database import connect_arguments, runner
from .errors import BadOption, NewerSchema, NotUpgraded, OlderSchema, Unsafe
from .names import fill
from .options import read_options
from .upgrade_locks import LOCKS, locks

#: Of the tables and functions in `sql/`.  It grows with each change of them; tests/test_schema.py holds that.  A file
#: that changes is first copied to `sql/VERSION/`, where `read` finds what an older version had.
VERSION = 9
TABLES = ("tables.sql", "states.sql")
FUNCTIONS = (
    "publish.sql", "claim.sql", "priority.sql", "limits.sql", "lines.sql", "settle.sql", "upkeep.sql", "groups.sql",
    "dead_letters.sql", "counting.sql", "group_counting.sql", "interface.sql", "publishers.sql", "moving.sql",
)  # fmt: skip
#: The files that older versions did not have -> the first version with it.
ADDED = {
    "publishers.sql": 6, "states.sql": 8, "moving.sql": 8, "priority.sql": 8, "limits.sql": 8, "lines.sql": 8,
    "stock.sql": 8, "former.sql": 8,
}  # fmt: skip
#: Names of before version 8: those of kombu's own SQLAlchemy transport for its tables, and those of functions.
STOCK = ("stock.sql", "former.sql")

USAGE = (
    "usage: python -m celery_durable.schema postgresql://USER:PASSWORD@HOST/DATABASE [SCHEMA]"
    " [--grant-publisher ROLE] [--grant-worker ROLE]"
)

#: The oldest version that this package still makes, and brings up to date.
OLDEST = 4
#: version -> the file of sql/steps that makes a database of the version before to one of it.  All functions and views
#: are replaced after that, so these change tables, and drop functions whose signature changes.
STEPS: Mapping[int, str | None] = {
    5: None,  # functions only: what is to be cancelled is not parked
    6: "6.sql",
    7: "7.sql",
    8: "8.sql",
    9: "9.sql",
}
#: What follows when all functions and views are there.
RIGHTS_STEPS = {8: "8.rights.sql"}

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('{channel} schema', 0))"
_IS_THERE = """
    SELECT coalesce(to_regclass('{schema}durable_message'), to_regclass('{schema}kombu_message')) IS NOT NULL,
           to_regclass('{schema}kombu_schema') IS NOT NULL"""
_HAS_STOCK_NAMES = "SELECT to_regclass('{schema}kombu_message') IS NOT NULL"
_VERSION = "SELECT version FROM {schema}kombu_schema"
_RAISE = "UPDATE {schema}kombu_schema SET version = %(version)s"
_PATH = "SELECT current_setting('search_path')"
_PATIENCE = "SELECT current_setting('lock_timeout')"
_SET_PATIENCE = "SELECT set_config('lock_timeout', %(patience)s, true)"
_SET_PATH = "SELECT set_config('search_path', %(path)s, true)"
_WHERE = """(
    SELECT nspname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
     WHERE pg_class.oid = coalesce(to_regclass('{schema}kombu_schema'), to_regclass('{schema}kombu_message')))"""
#: Of the tables and functions that are made, and of the functions that keep it (names.py): where the tables are.
_OUR_PATH = f"""
    SELECT coalesce(quote_ident(coalesce({_WHERE}, current_schema())) || ', pg_temp', current_setting('search_path'))"""
_HAS_SCHEMA = "SELECT to_regnamespace(%(name)s) IS NOT NULL"
_CREATE_SCHEMA = 'CREATE SCHEMA "{name}"'
_NAMES = f"SELECT quote_ident({_WHERE}), quote_ident(%(role)s)"
_MAY_CREATE = f"SELECT has_schema_privilege(%(role)s, {_WHERE}, 'CREATE')"
#: What `grant` gives: the word -> files of sql/grants.
RIGHTS = {"publisher": ("publisher.sql",), "worker": ("publisher.sql", "worker.sql")}


def current(connection: Any, options: Mapping[str, Any] | None = None) -> int | None:
    """The version of the database; 0: from before there were versions; None: there are no tables.

    connection: as of `upgrade`; options: `broker_transport_options`, needed only when they name a schema.
    """
    return _current(_Database(connection, options))


def upgrade(connection: Any, options: Mapping[str, Any] | None = None, *, to: int = VERSION) -> int:
    """Create the tables and functions of a version, or bring them to it, in the caller's transaction.

    -> the version that the database has then.  connection: psycopg2's, or a Connection or Session of SQLAlchemy;
    options: as of `current`; a schema that they name is created; to: OLDEST to VERSION.  A database of that version or
    a later one is left as it is.  Safe at once from many processes: the others wait for the commit of the first.
    Locks: an advisory lock, and the tables that a step changes: from version 8 on all at once, for which nobody waits
    longer than 0.3 s until they are had.  Raises: NewerSchema, OlderSchema, ValueError for another version, the
    driver's LockNotAvailable when a transaction has one of the tables for 15 s; nothing is changed then.
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
    [(has_stock_names,)] = database.run(_HAS_STOCK_NAMES)
    names = [*(tables(to) if found is None else ()), *functions(to)]
    if has_stock_names:
        names += stock(to)
    passed = range(found + 1, to + 1) if found is not None else range(0)
    taken = dict.fromkeys(name for version in passed for name in LOCKS.get(version, ()))
    first = [locks([*taken])] if taken else []
    steps = [*first, *(step(version) for version in passed)]
    rights = [_step_text(RIGHTS_STEPS[version]) for version in passed if version in RIGHTS_STEPS]
    [(patience,)] = database.run(_PATIENCE)
    _run_in_place(database, [*steps, *(read(name, to) for name in names), *rights])
    database.run(_SET_PATIENCE, {"patience": patience})
    database.run(_RAISE, {"version": to})
    return to


def lock(connection: Any, relations: Sequence[str], options: Mapping[str, Any] | None = None) -> None:
    """Take tables and views of the broker, ACCESS EXCLUSIVE, as sql/locks.sql says; for migrations that go back.

    relations: their names, in order; connection, options: as of `upgrade`.  Raises: the driver's LockNotAvailable.
    """
    _run_in_place(_Database(connection, options), [locks(relations)])


def replace_functions(connection: Any, to: int, options: Mapping[str, Any] | None = None) -> None:
    """Put the functions and views of an older version back, for migrations that go back to its tables.

    connection, options: as of `upgrade`.  They must have the signatures and columns of now.
    """
    database = _Database(connection, options)
    [(has_stock_names,)] = database.run(_HAS_STOCK_NAMES)
    names = [*functions(to), *(stock(to) if has_stock_names else ())]
    _run_in_place(database, [read(name, to) for name in names])


def add_stock_names(connection: Any, options: Mapping[str, Any] | None = None) -> None:
    """Let producers of kombu's own SQLAlchemy transport publish into these tables; see sql/stock.sql.

    connection, options: as of `upgrade`, which keeps them up to date, and makes them where they were tables.
    Raises OlderSchema.
    """
    database = _Database(connection, options)
    database.run(_LOCK)
    found = _current(database) or 0
    if not (names := stock(found)):
        raise OlderSchema(found, ADDED[STOCK[0]])
    _run_in_place(database, [read(name, found) for name in names])


def _run_in_place(database: "_Database", texts: list[str]) -> None:
    """Run statements with the search path of the tables' schema, which is made if it is named and not there."""
    [(path,)] = database.run(_PATH)
    if name := database.options.schema:
        _make_schema(database, name)
        database.run(_SET_PATH, {"path": name})
    [(ours,)] = database.run(_OUR_PATH)
    database.run(_SET_PATH, {"path": ours})
    for text in filter(None, texts):
        database.run(text)
    database.run(_SET_PATH, {"path": path})


def grant(connection: Any, role: str, right: str, options: Mapping[str, Any] | None = None) -> None:
    """Let a role publish, or also run workers and use the SQL interface, and nothing else.

    right: a key of RIGHTS; connection, options: as of `upgrade`.  An upgrade keeps it.
    Raises: Unsafe for a publisher that may create objects beside the tables, NotUpgraded.
    """
    database = _Database(connection, options)
    if (found := _current(database)) is None or found < VERSION:
        raise NotUpgraded(found, VERSION)
    given = {"role": role}
    if database.run(_MAY_CREATE, given)[0][0] and right == "publisher":
        raise Unsafe(role)
    [(place, quoted)] = database.run(_NAMES, given)
    for name in RIGHTS[right]:
        text = files(__package__).joinpath("sql", "grants", name).read_text(encoding="utf-8")
        database.run(text.replace("{role}", quoted).replace("{place}", place))


def tables(version: int) -> list[str]:
    """The files with the tables of a version."""
    return [name for name in TABLES if ADDED.get(name, OLDEST) <= version]


def functions(version: int) -> list[str]:
    """The files with the functions of a version."""
    return [name for name in FUNCTIONS if ADDED.get(name, OLDEST) <= version]


def stock(version: int) -> list[str]:
    """The files with the names of before that a version has."""
    return [name for name in STOCK if ADDED[name] <= version]


def step(version: int) -> str:
    """What makes the tables of a version from those of the version before."""
    name = STEPS[version]
    if name is None:
        return ""
    text = _step_text(name)
    return text.replace("{states}", read("states.sql", version)) if "{states}" in text else text


def _step_text(name: str) -> str:
    return files(__package__).joinpath("sql", "steps", name).read_text(encoding="utf-8")


def _make_schema(database: "_Database", name: str) -> None:
    """Unless it is there: who may use a schema need not have the right to create one."""
    if not database.run(_HAS_SCHEMA, {"name": name})[0][0]:
        database.run(_CREATE_SCHEMA.replace("{name}", name))


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
        """Run one.  parameters: None: of a statement that has none, where a % is a %."""
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
    """The command.  arguments: as in USAGE.  -> what was wrong with them, or None."""
    wanted, places = _read(arguments)
    if not 1 <= len(places) <= 2:
        return USAGE
    url, *schema = places
    options = {"schema": schema[0]} if schema else None
    try:
        with closing(psycopg2.connect(**connect_arguments(url.removeprefix("durable+")))) as connection, connection:
            connection.set_session(isolation_level="READ COMMITTED")
            print(f"version {upgrade(connection, options)}")  # noqa: T201  the command's output
            for right, role in wanted:
                grant(connection, role, right, options)
    except (psycopg2.Error, BadOption, NewerSchema, NotUpgraded, OlderSchema, Unsafe, ValueError) as error:
        return f"celery_durable.schema: {str(error).strip()}"
    return None


def _read(arguments: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """-> (right, role) of each --grant, and the other arguments; none for an option that is unknown or has no value."""
    wanted, places, left = [], [], list(arguments)
    while left:
        word = left.pop(0)
        right = word.removeprefix("--grant-")
        if not word.startswith("-"):
            places.append(word)
        elif right in RIGHTS and left:
            wanted.append((right, left.pop(0)))
        else:
            return [], []
    return wanted, places


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
