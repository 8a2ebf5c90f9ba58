"""The indexes that the migrations make, as migrations/indexes.sql has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sqlalchemy import Connection, text

from app.store.core.session import Session

_LINE = re.compile(r"(CREATE (?:UNIQUE )?INDEX )(\w+)( ON (\w+) .+?);(?: -- (PRIMARY KEY|UNIQUE))?")
#: Operator classes of this extension are where its operator made it (migrations/versions/0040_search_addresses.py).
TRIGRAMS, _ITS_CLASS = "pg_trgm", re.compile(r"\b\w+\.(?=gin_trgm_ops\b)")
# As a session sees them whose search path has the tables; a constraint's index needs the word of its constraint.
_MADE = text("""
    SELECT concat(pg_get_indexdef(x.indexrelid, 0, true), ';',
                  CASE c.contype WHEN 'p' THEN ' -- PRIMARY KEY' WHEN 'u' THEN ' -- UNIQUE' END) AS line
      FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
      LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.conrelid = x.indrelid AND c.contype IN ('p', 'u')
     WHERE i.relnamespace = current_schema()::regnamespace
     ORDER BY t.relname COLLATE "C", i.relname COLLATE "C" """)


@dataclass(frozen=True, slots=True)
class ExpectedIndex:
    """An index of the schema.

    statement: builds it while the table is used; constraint: `PRIMARY KEY` or `UNIQUE` if it belongs to one.
    """

    name: str
    table: str
    statement: str
    constraint: str | None


@cache
def expected() -> Mapping[str, ExpectedIndex]:
    """The indexes of this release's schema, by name."""
    lines = (files("migrations") / "indexes.sql").read_text(encoding="utf-8").splitlines()
    found = (_LINE.fullmatch(line) for line in lines if not line.startswith("--"))
    indexes = (
        ExpectedIndex(one[2], one[4], f"{one[1]}CONCURRENTLY IF NOT EXISTS {one[2]}{one[3]}".replace("%", "%%"), one[5])
        for one in found
        if one
    )
    return {index.name: index for index in indexes}


def placed(index: ExpectedIndex, extensions: Mapping[str, str]) -> ExpectedIndex | None:
    """The index for a database with these extensions (name -> schema); None if it needs one that is not there."""
    if not _ITS_CLASS.search(index.statement):
        return index
    if TRIGRAMS not in extensions:
        return None
    statement = _ITS_CLASS.sub(f"{extensions[TRIGRAMS]}.", index.statement)
    return ExpectedIndex(index.name, index.table, statement, index.constraint)


def made(connection: Connection | Session) -> list[str]:
    """The lines of that file for a database, sorted by table and name."""
    return [" ".join(line.split()) for line in connection.execute(_MADE).scalars()]
