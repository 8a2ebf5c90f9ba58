"""Rows of any table as JSON: out of one database, and into another one with the same schema (docs/adr/0097).

A later column moves by itself.  Identities are given anew, in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import TextClause, text

from app.store.core.unit_of_work import Tx

#: Of each table, its columns without identities.
Shapes = Mapping[str, tuple[str, ...]]

_SHAPES = text("""
    SELECT CAST(attrelid::regclass AS text) AS table, array_agg(CAST(attname AS text) ORDER BY attnum) AS columns
      FROM pg_attribute
     WHERE attrelid = ANY (CAST(CAST(:tables AS text[]) AS regclass[])) AND attnum > 0 AND NOT attisdropped
       AND attidentity = '' AND attgenerated = ''
     GROUP BY attrelid""")
#: The repository of a row `r`, which may have another id here.
CODEBASE = "coalesce(CAST(CAST(:codebases AS jsonb) ->> CAST(r.codebase_id AS text) AS uuid), r.codebase_id)"


class JsonRows(NamedTuple):
    """Rows as a JSON array, and how many they are."""

    rows: str
    number: int


NONE = JsonRows("[]", 0)


def shapes(tx: Tx, tables: Iterable[str]) -> Shapes:
    """The columns of these tables."""
    return {row.table: tuple(row.columns) for row in tx.run(_SHAPES, tables=list(tables))}


def select(tx: Tx, statement: TextClause, **parameters: object) -> JsonRows:
    """Run a statement that returns a JSON array, as text, and a number."""
    return tx.run(statement, **parameters).value(JsonRows)


def array(values: Iterable[object]) -> str:
    """The text of an array of numbers or ids.

    PostgreSQL reads 10,000 of them in 2 ms; a constant for each takes it 20 ms to parse.
    """
    return "{" + ",".join(map(str, values)) + "}"


def gather(source: str, order: str = "") -> str:
    """The end of a statement, which returns the rows of a part of its WITH clause.  order: a column."""
    # no table has a column of this name, which it would stand for
    order = f" ORDER BY moving.{order}" if order else ""
    return f"""
        SELECT CAST(coalesce(json_agg(to_json(moving){order}), '[]') AS text) AS rows, count(*) AS number
          FROM {source} AS moving"""


def taking(table: str, condition: str, order: str = "") -> TextClause:
    """A statement that deletes rows and returns them.  order: a column."""
    return text(f"WITH gone AS (DELETE FROM {table} WHERE {condition} RETURNING *) {gather('gone', order)}")


def put(
    tx: Tx,
    shape: Shapes,
    table: str,
    taken: JsonRows,
    codebases: str = "{}",
    *,
    condition: str = "true",
    conflict: str = "",
    values: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
) -> None:
    """Insert rows, in their order.

    codebases: JSON, the id of a repository there -> here, where they differ; condition, values: SQL over a row `r` of
    the new ones, which are to be inserted, and with other values than they bring; also an identity may be among these;
    given: their parameters.
    """
    if taken.number:
        statement = _inserting(table, shape[table], condition, conflict, tuple(sorted((values or {}).items())))
        known = {"codebases": codebases} if "codebase_id" in shape[table] else {}
        tx.run(statement, rows=taken.rows, **known, **(given or {}))


@lru_cache(maxsize=128)
def _inserting(
    table: str, columns: tuple[str, ...], condition: str, conflict: str, values: tuple[tuple[str, str], ...]
) -> TextClause:
    given = {"codebase_id": CODEBASE, **dict(values)}
    named = [*columns, *(column for column in dict(values) if column not in columns)]
    chosen = ", ".join(given.get(column, f"r.{column}") for column in named)
    return text(f"""
        INSERT INTO {table} ({", ".join(named)}) OVERRIDING SYSTEM VALUE
        SELECT {chosen}
          FROM json_populate_recordset(CAST(NULL AS {table}), CAST(:rows AS json)) WITH ORDINALITY AS r
         WHERE {condition} ORDER BY r.ordinality {conflict}""")
