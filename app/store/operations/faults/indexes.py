"""The indexes that the migrations make, as migrations/indexes.sql has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from sqlalchemy import Connection, text

from app.store.core.session import Session

_LINE = re.compile(r"(CREATE (?:UNIQUE )?INDEX )(\w+)( ON (ONLY )?(\w+) .+?);(?: -- (PRIMARY KEY|UNIQUE)(, newest)?)?")
#: Operator classes of this extension are where its operator made it (migrations/versions/0040_search_addresses.py).
TRIGRAMS, _ITS_CLASS = "pg_trgm", re.compile(r"\b\w+\.(?=gin_trgm_ops\b)")
# As a session sees them whose search path has the tables; a constraint's index needs the word of its constraint.  Those
# of the parts of a table come and go with the months.
_MADE = text("""
    SELECT concat(pg_get_indexdef(x.indexrelid, 0, true), ';',
                  CASE c.contype WHEN 'p' THEN ' -- PRIMARY KEY' WHEN 'u' THEN ' -- UNIQUE' END,
                  CASE WHEN c.contype = 'p' AND x.indexrelid > ALL (
                           SELECT o.indexrelid FROM pg_index o
                            WHERE o.indrelid = x.indrelid AND o.indexrelid <> x.indexrelid)
                        AND (SELECT count(*) FROM pg_index o WHERE o.indrelid = x.indrelid) > 1
                       THEN ', newest' END) AS line
      FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
      LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.conrelid = x.indrelid AND c.contype IN ('p', 'u')
     WHERE i.relnamespace = current_schema()::regnamespace AND NOT t.relispartition
     ORDER BY t.relname COLLATE "C", i.relname COLLATE "C" """)


@dataclass(frozen=True, slots=True)
class ExpectedIndex:
    """An index of the schema.

    statement: builds it while the table is used; constraint: `PRIMARY KEY` or `UNIQUE` if it belongs to one; is_newest:
    a key that has to be the newest index of its table (docs/adr/0085); has_parts: its table has parts, each with an
    index of its own, and cannot be given one while it is used.
    """

    name: str
    table: str
    statement: str
    constraint: str | None
    is_newest: bool = False
    has_parts: bool = False


@cache
def expected() -> Mapping[str, ExpectedIndex]:
    """The indexes of this release's schema, by name."""
    lines = (files("migrations") / "indexes.sql").read_text(encoding="utf-8").splitlines()
    found = (_LINE.fullmatch(line) for line in lines if not line.startswith("--"))
    indexes = (
        ExpectedIndex(
            one[2],
            one[5],
            f"{one[1]}CONCURRENTLY IF NOT EXISTS {one[2]}{one[3]}".replace("%", "%%"),
            one[6],
            bool(one[7]),
            bool(one[4]),
        )
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
    return replace(index, statement=statement)


def made(connection: Connection | Session) -> list[str]:
    """The lines of that file for a database, sorted by table and name."""
    return [" ".join(line.split()) for line in connection.execute(_MADE).scalars()]
