"""The functions and triggers of the database are those of app/store/sql, one for one (docs/adr/0051)."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from tests.conftest import raw_connection
from tests.contract.conftest import ROOT

FILES = sorted((ROOT / "app" / "store" / "sql").glob("*.sql"))
#: The broker's are its package's; tests/contract/test_schema.py holds those.
_FUNCTIONS = """
    SELECT p.oid::regprocedure::text AS name, pg_get_functiondef(p.oid) AS definition FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace AND p.proname !~ '^(durable|kombu|broker)_'"""
_TRIGGERS = """
    SELECT format('%I ON %s', tgname, tgrelid::regclass) AS name, pg_get_triggerdef(oid) AS definition
      FROM pg_trigger WHERE NOT tgisinternal AND tgrelid::regclass::text !~ '^(kombu|broker)_'"""
#: A path that does not name pg_temp begins with it, so a caller's table would be read for a catalogue.
_OPEN_PATHS = """
    SELECT p.proname FROM pg_proc p CROSS JOIN unnest(p.proconfig) AS c
     WHERE p.pronamespace = 'public'::regnamespace AND c LIKE 'search_path=%' AND c !~ ', pg_temp$'"""
_OPEN_DEFINERS = """
    SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
       AND NOT EXISTS (SELECT FROM unnest(p.proconfig) AS c WHERE c LIKE 'search_path=%')"""
_CREATED = re.compile(r"((?:^--.*\n)*)^CREATE OR REPLACE FUNCTION (\w+)", re.MULTILINE)


def code_of(connection: Connection) -> dict[str, str]:
    """Each function and trigger of the service, and its definition."""
    rows = [
        (f"{kind} {row.name}", row.definition)
        for kind, query in (("TRIGGER", _TRIGGERS), ("FUNCTION", _FUNCTIONS))
        for row in connection.execute(text(query))
    ]
    return dict(rows)


def replaced_by_files(connection: Connection) -> dict[str, str]:
    """The same after all of it was dropped, and the files were run, in the caller's transaction."""
    for what in code_of(connection):
        connection.execute(text(f"DROP {what}"))
    assert code_of(connection) == {}
    for path in FILES:
        connection.exec_driver_sql(path.read_text(encoding="utf-8").replace("%", "%%"))
    return code_of(connection)


@pytest.fixture
def connection(migrated_url: str) -> Iterator[Connection]:
    with raw_connection(migrated_url) as made:
        yield made
        made.rollback()


def test_every_function_and_trigger_of_the_database_is_in_a_file_and_the_other_way_round(
    connection: Connection,
) -> None:
    found = code_of(connection)
    assert len(found) >= 10
    assert replaced_by_files(connection) == found


@pytest.mark.parametrize(
    "change",
    [
        "CREATE FUNCTION nowhere() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "CREATE FUNCTION rate_take(bucket text) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "DROP FUNCTION job_turns",
        "ALTER FUNCTION wake_user RESET enable_seqscan",
        "ALTER FUNCTION job_turns VOLATILE",
        "DROP TRIGGER api_tokens_revoke_below ON api_tokens",
        """CREATE TRIGGER nowhere BEFORE DELETE ON users FOR EACH STATEMENT
           EXECUTE FUNCTION suppress_redundant_updates_trigger()""",
    ],
)
def test_each_difference_between_database_and_files_is_found(connection: Connection, change: str) -> None:
    connection.execute(text(change))
    found = code_of(connection)
    assert replaced_by_files(connection) != found


@pytest.mark.parametrize("query", [_OPEN_PATHS, _OPEN_DEFINERS], ids=["a path", "rights"])
def test_no_function_with_a_path_or_the_owners_rights_looks_into_temporary_tables_first(
    connection: Connection, query: str
) -> None:
    assert connection.execute(text(query)).scalars().all() == []
    connection.execute(text("ALTER FUNCTION audit_log_keep SET search_path = pg_catalog"))
    connection.execute(text("ALTER FUNCTION audit_log_forget RESET search_path"))
    assert len(connection.execute(text(query)).scalars().all()) == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_function_says_above_it_what_it_locks_and_returns(path: Path) -> None:
    told = _CREATED.findall(path.read_text(encoding="utf-8"))
    assert told
    for comment, name in told:
        assert "Locks" in comment, name
        assert "Returns" in comment or name == "api_tokens_revoke_below", name  # a trigger returns nothing
