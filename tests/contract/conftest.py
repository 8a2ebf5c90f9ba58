"""What contract tests share: a migrated database, and the repository as Git knows it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, pool

from tests.databases import Databases

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def migrated_url(databases: Databases) -> Iterator[str]:
    """A migrated database that is only read, and so made once per process."""
    with databases.copy() as url:
        yield url


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    """Connect to a database that was never migrated."""
    made = create_engine(empty_url, poolclass=pool.NullPool)
    yield made
    made.dispose()


@pytest.fixture(scope="session")
def sources() -> list[Path]:
    """Files of the repository, relative to its root: tracked ones, and new ones that are not ignored."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True)
    listed = [Path(name) for name in done.stdout.decode().split("\0") if name]
    return [path for path in sorted(set(listed)) if (ROOT / path).is_file()]
