"""Write migrations/indexes.sql from a database that was just migrated: `python tools/indexes.py DATABASE_URL`."""

import sys
from pathlib import Path

from sqlalchemy import create_engine

from app.store.operations.faults.indexes import made

FILE = Path(__file__).parents[1] / "migrations" / "indexes.sql"
HEAD = """\
-- The indexes of a migrated database, with which `fairlane doctor` compares a database, and by which it mends one.
-- tools/indexes.py writes them as PostgreSQL says them; tests/contract/test_expected_indexes.py compares them.
"""


def text(lines: list[str]) -> str:
    """The whole file."""
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    with create_engine(sys.argv[1]).connect() as connection:
        FILE.write_text(text(made(connection)), encoding="utf-8")
