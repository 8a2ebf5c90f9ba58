"""Migrate first, then replace the processes: the previous release works on the new schema, with traffic (docs/adr/0044).

Where the history is not there, as in a shallow clone or a tarball, this is left out and says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.error
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import Connection, make_url, text

from app.services.operations.audit import audit
from app.services.operations.readiness import serves
from app.store.core import schema
from tests.conftest import World, raw_connection
from tests.contract.catalogs import schema_of
from tests.databases import KEPT, Databases
from tests.e2e.webs import Web
from tests.nodes import ROOT, LocalProcess, Nodes

pytestmark = pytest.mark.proof

#: The last release whose schema is the one before those that are migrated to here.
PREVIOUS = "c411a5a644448f14e9ebda97cbcce00af4855bc0"
JOBS = int(os.environ.get("PREVIOUS_JOBS", "8"))  # in each of the three parts


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code of the previous release, which runs in this environment."""
    folder = tmp_path_factory.mktemp("previous")
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", PREVIOUS], capture_output=True)
    if packed.returncode:
        pytest.skip(f"the previous release {PREVIOUS} is not in this clone: {packed.stderr.decode().strip()}")
    subprocess.run(["tar", "x", "-C", str(folder)], input=packed.stdout, check=True)
    return folder


@pytest.fixture
def database_url(empty_url: str, previous: Path, tmp_path: Path) -> str:
    """A database as the previous release migrated it."""
    # a worker of that release ends when its URL has this parameter
    url = make_url(empty_url).difference_update_query(["connect_timeout"]).render_as_string(hide_password=False)
    fairlane(previous, url, tmp_path, "migrate")
    return url


def packages(code: Path) -> dict[str, str]:
    """The environment in which a release finds its own packages, and not the installed ones."""
    return {"PYTHONPATH": os.pathsep.join(str(source) for source in sorted(code.glob("packages/*/src")))}


def fairlane(code: Path, url: str, folder: Path, *command: str) -> str:
    """A release's own command line."""
    env = os.environ | {"DATABASE_URL": url, "FAIRLANE_HOME": str(folder / "home")} | packages(code)
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", *command], cwd=code, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def worker(nodes: Nodes, folder: Path, code: Path, name: str) -> LocalProcess:
    argv = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "-Q", "analysis_priority", "-c", "2"]
    argv += ["-n", f"{name}@%h", "--without-gossip", "--without-mingle"]
    process = LocalProcess(name, argv, nodes.environment(**packages(code)), folder / f"{name}.log", code)
    nodes.others.append(process)
    process.start()
    process.ready()
    return process


class Traffic:
    """Asks a web for one commit after the other, and keeps what it said."""

    def __init__(self, commits: Iterator[str]) -> None:
        self.commits, self.jobs, self.faults = commits, list[str](), Counter[str]()

    def ask(self, web: Web) -> None:
        try:
            asked = {"repository": "local:shop", "commit": next(self.commits)}
            self.jobs.append(web.ask("/api/v1/analyses", asked)["id"])
            for path in (f"/api/v1/analyses/{self.jobs[-1]}", "/api/v1/me/history", "/api/v1/usage"):
                web.ask(path)
        except urllib.error.HTTPError as error:
            self.faults[f"{error.code} {error.read()[:300]!r}"] += 1

    @contextmanager
    def beside(self, web: Web) -> Iterator[None]:
        """Ask while something else happens, at least once."""
        over = threading.Event()

        def go_on() -> None:
            self.ask(web)
            while not over.is_set() and len(self.jobs) < 3 * JOBS:
                self.ask(web)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@pytest.mark.timeout(300)
@pytest.mark.release
def test_the_previous_release_serves_the_new_schema_and_beside_the_new_release(
    world: World, nodes: Nodes, previous: Path, repository: Callable[..., Path], tmp_path: Path, database_url: str
) -> None:
    fairlane(previous, database_url, tmp_path, "user", "add", "a@example.org", "--tier", "enterprise")
    token = json.loads(fairlane(previous, database_url, tmp_path, "token", "add", "a@example.org", "--json"))["token"]
    made = (repository("shop", {f"tests/test_{n}.py": "def test_a():\n    pass\n"}) for n in range(10 * JOBS))
    traffic = Traffic(subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=at, text=True).strip() for at in made)
    old_web = Web(nodes, tmp_path, token, code=previous, **packages(previous))
    old_workers = [worker(nodes, tmp_path, previous, f"old{n}") for n in range(2)]
    with traffic.beside(old_web):
        fairlane(ROOT, database_url, tmp_path, "migrate")
    assert world.value("SELECT version_num FROM alembic_version") == schema.needed()
    for _ in range(JOBS):
        traffic.ask(old_web)
    new_web, new_worker = Web(nodes, tmp_path, token), worker(nodes, tmp_path, ROOT, "new")
    for _ in range(JOBS):
        traffic.ask(old_web)
        traffic.ask(new_web)
    ended(world, traffic)
    for process in (old_web.process, *old_workers):
        process.kill("SIGTERM")
        assert process.wait() == 0
    for _ in range(JOBS):
        traffic.ask(new_web)
    ended(world, traffic)
    assert traffic.faults == {}
    assert new_web.ask("/readyz")["checks"]["migrations"] == "ok"
    assert world.rows("SELECT DISTINCT status::text, attempt FROM analyses") == [{"status": "completed", "attempt": 1}]
    assert [finding.number for finding in audit(world.uow) if finding.status != "holds"] == []
    assert new_worker.status == "running"


def test_a_database_that_the_previous_release_made_becomes_as_a_new_one(
    previous: Path, database_url: str, databases: Databases, tmp_path: Path
) -> None:
    fairlane(ROOT, database_url, tmp_path, "migrate")
    with databases.copy() as new_url:
        for what in (schema_of, rows_of_migrations):
            with raw_connection(database_url) as old, raw_connection(new_url) as new:
                assert what(old) == what(new)


def rows_of_migrations(connection: Connection) -> dict[str, list[str]]:
    """What stands in the tables that migrations fill."""
    return {
        table: [str(row) for row in connection.execute(text(f"SELECT * FROM {table} ORDER BY 1"))] for table in KEPT
    }


def ended(world: World, traffic: Traffic) -> None:
    """Every job that was accepted has completed."""
    wait_for(lambda: world.value("SELECT count(*) FROM kombu_message") == 0, "the jobs to end")
    found: dict[str, Any] = {
        str(row["id"]): row["status"] for row in world.rows("SELECT id, status::text FROM analyses")
    }
    assert {job: found.get(job) for job in traffic.jobs} == dict.fromkeys(traffic.jobs, "completed")


@pytest.mark.parametrize(
    ("needed", "revision", "oldest", "is_served"),
    [
        ("0017", "0017", "0015", True),
        ("0017", "0021", "0015", True),
        ("0017", "0021", "0017", True),
        ("0017", "0021", "0018", False),  # contracted since
        ("0017", "0021", None, False),
        ("0017", "0016", "0015", False),  # its own tables are not there yet
        ("0017", None, None, False),
    ],
)
def test_a_release_serves_its_own_schema_and_newer_ones_that_say_so(
    needed: str, revision: str | None, oldest: str | None, is_served: bool
) -> None:
    assert (serves(needed, revision, oldest) == "ok") is is_served


@pytest.mark.release
def test_a_schema_that_was_migrated_on_is_ready_and_one_that_contracted_is_not(world: World, nodes: Nodes) -> None:
    fairlane(ROOT, nodes.database_url, nodes.folder, "migrate")
    web = Web(nodes, nodes.folder, "")
    world.rows("UPDATE alembic_version SET version_num = '9998' RETURNING 1")
    assert web.ask("/readyz")["checks"]["migrations"] == "ok"
    running = nodes.worker()
    assert running.container.status == "running"
    world.rows("UPDATE schema_support SET oldest = '9998' RETURNING 1")
    with pytest.raises(urllib.error.HTTPError, match="503"):
        web.ask("/readyz")
    refused = nodes.worker(ready=False)
    assert refused.container.wait() != 0
    assert "the oldest that works is 9998" in refused.container.logs()
