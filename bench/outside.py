"""What results outside of the database would save: `python -m bench.outside HOME`.

HOME is one of `fairlane up`, whose service is stopped.  Changes copies of its database, each in another way, and prints
the kB of the two tables that could be smaller, of the whole database after VACUUM FULL, and of a dump.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from sqlalchemy.engine import URL, make_url

from app import embedded
from bench.maintenance.filled import run

COPY: Final = "outside"
#: Rows that one statement changes.
AT_ONCE: Final = 1000
WAYS: Final[Mapping[str, Sequence[str]]] = {
    "as it is": (),
    "without what tests check": ("UPDATE file_inventories SET checks = NULL",),
    "without documents": ("UPDATE spec_features SET behaviours = '[]'",),
    "features by content": (
        "CREATE TABLE features (digest bytea PRIMARY KEY, behaviours jsonb NOT NULL)",
        "ALTER TABLE spec_features ADD digest bytea",
        "UPDATE spec_features SET digest = sha256(convert_to(behaviours::text, 'UTF8'))",
        "INSERT INTO features SELECT DISTINCT ON (digest) digest, behaviours FROM spec_features",
        "ALTER TABLE spec_features DROP behaviours",
        "CREATE INDEX ON spec_features (digest)",  # to find what nothing refers to
    ),
}
#: Columns that zlib compresses in the rows: what tests check, and documents.
COLUMNS: Final = (("file_inventories", "checks"), ("spec_features", "behaviours"))
#: What would be one object: the checks of 64 files, or a document.
OBJECTS: Final[Mapping[str, str]] = {
    "what tests check": """
        SELECT CAST((row_number() OVER (ORDER BY id) - 1) / 64 AS text) AS object, checks::text FROM file_inventories
         WHERE checks IS NOT NULL ORDER BY id""",
    "documents": "SELECT document_id::text, behaviours::text FROM spec_features ORDER BY document_id, draft, position",
}
BYTES: Final = """
    SELECT pg_total_relation_size('file_inventories'),
           pg_total_relation_size('spec_features') + coalesce(pg_total_relation_size(to_regclass('features')), 0),
           pg_database_size(current_database())"""
JOBS: Final = """
    SELECT (SELECT count(*) FROM analyses WHERE status = 'completed'),
           (SELECT count(*) FROM spec_documents WHERE status = 'completed')"""


def main() -> None:
    """Take each way in a copy of its own."""
    parser = argparse.ArgumentParser(prog="python -m bench.outside", description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--database", help="instead of the service's")
    given = parser.parse_args()
    with embedded.hold(given.home) as server:
        name = given.database or make_url(server.owner_url).database
        results, documents = run(server.admin_url, JOBS, database=name)[0]
        print(f"{results} results, {documents} documents")
        for objects, query in OBJECTS.items():
            _tell_objects(objects, run(server.admin_url, query, database=name))
        for way, statements in WAYS.items():
            _take(server.admin_url, name, way, statements)
        for table, column in COLUMNS:
            rows = run(server.admin_url, f"SELECT ctid::text, {column}::text FROM {table}", database=name)
            _take(server.admin_url, name, f"{table}.{column} by zlib", _compressed(table, column, rows))


def _tell_objects(name: str, rows: Sequence[tuple[object, ...]]) -> None:
    groups = (b"\n".join(str(content).encode() for _, content in some) for _, some in groupby(rows, lambda row: row[0]))
    sizes = [len(zlib.compress(content)) for content in groups]
    largest = max(sizes, default=0)
    print(
        f"{name} as objects: {len(sizes)}, {sum(sizes) / 1000:,.0f} kB, the largest {largest / 1000:,.0f}", flush=True
    )


def _compressed(table: str, column: str, rows: Sequence[tuple[object, ...]]) -> list[str]:
    """Statements that move each value into a column of compressed bytes.  rows: where each is, and what it is."""
    statements = [
        f"ALTER TABLE {table} ADD packed bytea, ALTER {column} DROP NOT NULL",
        f"ALTER TABLE {table} ALTER packed SET STORAGE EXTERNAL",
    ]
    known = [(place, zlib.compress(str(content).encode()).hex()) for place, content in rows if content is not None]
    for begin in range(0, len(known), AT_ONCE):
        some = known[begin : begin + AT_ONCE]
        values = ", ".join(f"('{place}'::tid, '\\x{digits}'::bytea)" for place, digits in some)
        statements.append(
            f"UPDATE {table} t SET packed = v.packed, {column} = NULL FROM (VALUES {values}) v(place, packed)"
            " WHERE t.ctid = v.place"
        )
    return statements


def _take(admin: str, name: str | None, way: str, statements: Sequence[str]) -> None:
    drop = f"DROP DATABASE IF EXISTS {COPY} WITH (FORCE)"
    run(admin, drop, f"CREATE DATABASE {COPY} TEMPLATE {name}")
    try:
        row = run(admin, *statements, "VACUUM FULL", BYTES, database=COPY)[0]
        sizes = [int(str(one)) for one in row]
        sizes.append(_dumped(make_url(admin).set(drivername="postgresql", database=COPY)))
    finally:
        run(admin, drop)
    tests, documents, whole, dump = (f"{size / 1000:,.0f}" for size in sizes)
    print(f"{way}: file_inventories {tests}, spec_features {documents}, database {whole}, dump {dump} kB", flush=True)


def _dumped(url: URL) -> int:
    """Bytes of a dump as `fairlane backup` makes it."""
    program = embedded.clients("pg_dump")[-1].path
    where = ["--host", str(url.host), "--port", str(url.port), "--username", str(url.username), str(url.database)]
    argv = [str(program), "-Fc", "-Z", "1", *where]
    environment = os.environ | {"PGPASSWORD": url.password or ""}
    return len(subprocess.run(argv, check=True, capture_output=True, env=environment).stdout)


if __name__ == "__main__":
    main()
