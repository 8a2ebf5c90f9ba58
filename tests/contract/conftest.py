"""What contract tests share: an empty database, and the repository as Git knows it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy.engine import make_url

from app import embedded
from tests.conftest import _run_sql

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def migrated_url(server: embedded.Server, template: str) -> Iterator[str]:
    """A migrated database that is only read, and so made once per process."""
    yield from _database(server, f"TEMPLATE {template}")


@pytest.fixture
def empty_url(server: embedded.Server) -> Iterator[str]:
    """A database that was never migrated."""
    yield from _database(server)


def _database(server: embedded.Server, options: str = "") -> Iterator[str]:
    url = make_url(server.url)
    name = f"contract_{uuid4().hex}"
    _run_sql(server.admin_url, f"CREATE DATABASE {name} OWNER {url.username} {options} STRATEGY file_copy")
    yield url.set(database=name).render_as_string(hide_password=False)
    _run_sql(server.admin_url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def sources() -> list[Path]:
    """Files of the repository, relative to its root: tracked ones, and new ones that are not ignored."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True)
    listed = [Path(name) for name in done.stdout.decode().split("\0") if name]
    return [path for path in sorted(set(listed)) if (ROOT / path).is_file()]
