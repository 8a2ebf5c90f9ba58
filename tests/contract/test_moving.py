"""Each table that leads to a user moves with an account in one way, so that a new table cannot be left behind."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from app.store.cells.tables import ALL, CONTENTS, MADE_ANEW, NOTED, OF_JOBS, OWN
from tests.conftest import raw_connection
from tests.contract.test_forgetting import _LEADING, _NAMING

#: Tables whose columns the move names one by one, since they are known by their contents and not by an id.
BY_NAME = {
    "analysis_file_lists": {"analysis_id", "last_ordinal", "first_ordinal", "file_list_id"},
    "file_lists": {"id", "digest", "size", "used_at"},
    "file_list_entries": {"file_list_id", "position", "path", "file_inventory_id", "skipped"},
}
_COLUMNS = """
    SELECT CAST(attname AS text) FROM pg_attribute
     WHERE attrelid = CAST(:table AS regclass) AND attnum > 0 AND NOT attisdropped"""
#: Columns that hold the id of a repository, which may be another one in the target.
_REPOSITORIES = """
    SELECT CAST(conrelid::regclass AS text) AS table, CAST(a.attname AS text) AS column
      FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
     WHERE c.contype = 'f' AND c.confrelid = 'codebases'::regclass"""


@pytest.mark.parametrize("query", [_LEADING, _NAMING])
def test_each_table_that_leads_to_a_user_moves_in_some_way(migrated_url: str, query: str) -> None:
    with raw_connection(migrated_url) as connection:
        found = set(connection.execute(text(query)).scalars())
    assert found - {*OWN, *OF_JOBS, *MADE_ANEW} == set()


def test_no_table_moves_in_two_ways_and_none_is_made_up(migrated_url: str) -> None:
    named = [*OWN, *OF_JOBS, *MADE_ANEW, *CONTENTS, *NOTED]
    assert len(named) == len(set(named))
    with raw_connection(migrated_url) as connection:
        tables = set(
            connection.execute(text("SELECT CAST(relname AS text) FROM pg_class WHERE relkind IN ('r', 'p')")).scalars()
        )
    assert set(named) <= tables
    assert set(ALL) == set(named) - set(MADE_ANEW)


@pytest.mark.parametrize("table", sorted(BY_NAME))
def test_a_table_that_moves_by_the_names_of_its_columns_has_no_others(migrated_url: str, table: str) -> None:
    with raw_connection(migrated_url) as connection:
        assert set(connection.execute(text(_COLUMNS), {"table": table}).scalars()) == BY_NAME[table]


def test_repositories_are_named_by_one_column(migrated_url: str) -> None:
    with raw_connection(migrated_url) as connection:
        found = {row.table: row.column for row in connection.execute(text(_REPOSITORIES)) if row.table in ALL}
    assert set(found.values()) == {"codebase_id"}
    assert len(found) > 4
