from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg2
import pytest
from durable_harness.waiting import wait_for

from app import embedded
from app.embedded import data as cluster_data
from app.embedded import postmaster

ROOT = Path(__file__).parents[2]
DEADLINE_SECONDS = 60.0

Ask = Callable[..., list[tuple[object, ...]]]


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], object]], object]:
    """Wait for a condition; fail after a deadline."""

    return lambda condition: wait_for(condition, "the condition", seconds=DEADLINE_SECONDS)


@pytest.fixture(scope="session")
def ask() -> Ask:
    """Run one statement on a server."""

    def run(url: str, statement: str) -> list[tuple[object, ...]]:
        with closing(psycopg2.connect(url.replace("+psycopg2", ""), connect_timeout=60)) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []

    return run


@pytest.fixture
def passable() -> Iterator[Path]:
    """A folder that any user may enter, unlike tmp_path of root."""
    folder = Path(tempfile.mkdtemp(prefix="fairlane-test-", dir=quick_folder()))
    folder.chmod(0o755)
    yield folder
    embedded.stop(folder / "home")
    shutil.rmtree(folder)


@pytest.fixture
def home(passable: Path) -> Path:
    """A home that does not exist yet; what runs there at the end is stopped."""
    return passable / "home"


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """A stopped home, for tests that do not care how it came to be."""
    home = Path(tempfile.mkdtemp(prefix="fairlane-test-", dir=quick_folder())) / "home"
    server = embedded.ensure(home, durable=False)
    with (
        closing(psycopg2.connect(server.owner_url.replace("+psycopg2", ""))) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        connection.commit()
    embedded.stop(home)
    yield home
    shutil.rmtree(home.parent)


@pytest.fixture
def filled(template: Path, home: Path) -> Path:
    """A stopped home with a table `kept`."""
    copy(template, home)
    return home


def quick_folder() -> Path | None:
    """Memory, if there is plenty: thousands of files come and go, which some disks are slow at."""
    memory = Path("/dev/shm")
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 << 30
    return memory if roomy else None


def copy(source: Path, target: Path) -> None:
    """Copy a home with its owners, as `cp -a` does."""
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


@pytest.fixture
def helper() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start Python code in a session of its own; killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *argv: object, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, argv)],
            cwd=ROOT,
            env=os.environ | {"PYTHONUNBUFFERED": "1", **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with suppress(ProcessLookupError):
            process.kill()
        process.communicate()


def running(home: Path) -> int | None:
    """The server's process, if one runs."""
    found = [postmaster.find(home / f"pg{major}") for major in cluster_data.majors(home)]
    return next((server.pid for server in found if server is not None), None)


def pid_of(home: Path) -> int:
    """The server's process."""
    pid = running(home)
    assert pid is not None
    return pid
