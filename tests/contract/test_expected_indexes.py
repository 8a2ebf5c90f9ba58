"""The file of the indexes that a migrated database has is right, and each line of it builds its index."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from app.store.operations.faults.indexes import expected, made, placed
from tests.conftest import raw_connection
from tests.contract.conftest import ROOT

FILE = ROOT / "migrations" / "indexes.sql"


def lines() -> list[str]:
    return [line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("--")]


def test_the_file_has_the_indexes_of_a_migrated_database(migrated_url: str) -> None:
    """If this fails, run `python tools/indexes.py URL` with a database that was just migrated."""
    with raw_connection(migrated_url) as connection:
        assert lines() == made(connection)


def test_each_line_is_read(migrated_url: str) -> None:
    assert len(expected()) == len(lines())
    with raw_connection(migrated_url) as connection:
        kept = """
            SELECT conname, contype FROM pg_constraint JOIN pg_class t ON t.oid = conrelid
             WHERE contype IN ('p', 'u') AND connamespace = 'public'::regnamespace AND NOT t.relispartition"""
        constraints = {row.conname: row.contype for row in connection.execute(text(kept))}
    words = {"p": "PRIMARY KEY", "u": "UNIQUE"}
    assert {one.name: one.constraint for one in expected().values() if one.constraint} == {
        name: words[kind] for name, kind in constraints.items()
    }


@pytest.mark.parametrize(
    ("schema", "named"), [("trigrams", "trigrams.gin_trgm_ops"), ("public", "public.gin_trgm_ops")]
)
def test_an_index_of_an_extension_is_expected_where_the_extension_is(schema: str, named: str) -> None:
    index = expected()["codebases_address_parts"]
    found = placed(index, {"pg_trgm": schema})
    assert found is not None
    assert named in found.statement
    assert placed(index, {}) is None
