"""Any two of the last three releases and this one work on one database, in both orders, with traffic (docs/adr/0044)."""

from __future__ import annotations

import itertools
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
from sqlalchemy import make_url

from app.services.operations.audit import audit
from tests.conftest import World
from tests.e2e.webs import Web
from tests.nodes import LocalProcess, Nodes
from tests.releases import LAST, THIS, Code, Release, unpacked

pytestmark = pytest.mark.proof

JOBS = int(os.environ.get("PREVIOUS_JOBS", "6"))  # in each part
QUEUES = "analysis_priority,specview_priority"
THIS_RELEASE = Release(THIS.version, "", "")
#: The older one first.  The last release beside this tree is shown in CI too, and all of them before a release.
PAIRS = [
    pytest.param((LAST[-1], THIS_RELEASE), id=f"CI: {LAST[-1].version} and this"),
    *(
        pytest.param(pair, id=f"{pair[0].version} and {pair[1].version}", marks=pytest.mark.release)
        for pair in itertools.combinations([*LAST, THIS_RELEASE], 2)
    ),
]

Pair = tuple[Code, Code]


@pytest.fixture
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Pair:
    """The code of two releases, the older one first."""
    old, new = (THIS if one == THIS_RELEASE else unpacked(one, tmp_path) for one in request.param)
    return old, new


@pytest.fixture
def database_url(empty_url: str, pair: Pair, tmp_path: Path) -> str:
    """A database as the older release migrated it."""
    # a worker of 0.1.0 ends when its URL has this parameter
    url = make_url(empty_url).difference_update_query(["connect_timeout"]).render_as_string(hide_password=False)
    pair[0].fairlane(url, tmp_path / "home", "migrate")
    return url


class Traffic:
    """Submits one commit after the other and reads, keeping what was accepted and what failed.

    The user's jobs are more than may run at once, so some wait for a slot, and the end of one wakes the next.
    """

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
        over, most = threading.Event(), len(self.jobs) + 2 * JOBS

        def go_on() -> None:
            self.ask(web)
            while not over.is_set() and len(self.jobs) < most:
                self.ask(web)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def commits(repository: Callable[..., Path]) -> Iterator[str]:
    """Commits of one repository, each with a test more."""
    for n in itertools.count():
        folder = repository("shop", {f"tests/test_{n}.py": "def test_a():\n    pass\n"})
        yield subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=folder, text=True).strip()


def token_of(code: Code, url: str, home: Path) -> str:
    """A token of a new user, who may run three jobs at once."""
    code.fairlane(url, home, "user", "add", "a@example.org", "--tier", "pro")
    token: str = json.loads(code.fairlane(url, home, "token", "add", "a@example.org", "--json"))["token"]
    return token


def worker(nodes: Nodes, code: Code) -> LocalProcess:
    name = f"worker{len(nodes.others)}"
    argv = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "-Q", QUEUES, "-c", "4"]
    argv += ["-n", f"{name}@%h", "--without-gossip", "--without-mingle"]
    process = LocalProcess(name, argv, nodes.environment(**code.packages), nodes.folder / f"{name}.log", code.folder)
    nodes.others.append(process)
    process.start()
    process.ready()
    return process


def stop(process: LocalProcess) -> None:
    process.kill("SIGTERM")
    assert process.wait() == 0, process.logs()[-4000:]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("pair", PAIRS, indirect=True)
def test_two_releases_share_a_database_in_both_orders_under_traffic(
    world: World, nodes: Nodes, pair: Pair, repository: Callable[..., Path], tmp_path: Path, database_url: str
) -> None:
    (old, new), home = pair, tmp_path / "home"
    token, traffic = token_of(old, database_url, home), Traffic(commits(repository))
    old_web, old_worker = Web(nodes, tmp_path, token, code=old.folder, **old.packages), worker(nodes, old)
    with traffic.beside(old_web):
        new.fairlane(database_url, home, "migrate")
    end(world, traffic, old_web)  # the older release alone, on the newer schema
    with traffic.beside(old_web):
        new_worker = worker(nodes, new)
        stop(old_worker)
    end(world, traffic, old_web)  # the older web, the newer worker
    with traffic.beside(old_web):
        new_web = Web(nodes, tmp_path, token, code=new.folder, **new.packages)
        old_worker = worker(nodes, old)
        stop(new_worker)
    stop(old_web.process)
    end(world, traffic, new_web)  # the newer web, the older worker
    with traffic.beside(new_web):
        new_worker = worker(nodes, new)
        stop(old_worker)
    end(world, traffic, new_web)  # the newer release alone
    assert traffic.faults == {}
    assert new_web.ask("/readyz")["checks"]["migrations"] == "ok"
    assert new_worker.status == "running"
    assert world.rows("SELECT DISTINCT status::text FROM analyses") == [{"status": "completed"}]
    assert world.rows("SELECT DISTINCT status::text FROM spec_documents") == [{"status": "completed"}]
    THIS.fairlane(database_url, home, "migrate")  # whose audit reads the newest schema
    assert [finding.number for finding in audit(world.uow) if finding.status != "holds"] == []


def end(world: World, traffic: Traffic, web: Web) -> None:
    """Go on for a while, until every job that was accepted has completed, and then a specification of the newest."""
    for _ in range(JOBS):
        traffic.ask(web)
    wait_for(lambda: idle(world), "the jobs to end")
    found: dict[str, Any] = {
        str(row["id"]): row["status"] for row in world.rows("SELECT id, status::text FROM analyses")
    }
    assert {job: found.get(job) for job in traffic.jobs} == dict.fromkeys(traffic.jobs, "completed")
    specification = web.ask("/api/v1/specs", {"analysis_id": traffic.jobs[-1], "language": "en"})["id"]
    wait_for(lambda: idle(world), "the specification to end")
    assert web.ask(f"/api/v1/specs/{specification}")["status"] == "completed"


def idle(world: World) -> bool:
    return world.value("SELECT count(*) FROM kombu_message") == 0
