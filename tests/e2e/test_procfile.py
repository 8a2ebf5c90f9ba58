"""The Procfile as a process manager runs it, on a database without a single table."""

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from durable_harness.waiting import wait_for

from app.domain.queues import ALL_QUEUES
from tests.databases import Databases
from tests.nodes import ROOT

pytestmark = pytest.mark.proof

SETTINGS = """\
WEB_HOST=127.0.0.1
LOCAL_REPOS_ROOT={repositories}
ANALYZER_QUEUE_PRIORITY_WORKERS=1
ANALYZER_QUEUE_DEFAULT_WORKERS=1
ANALYZER_QUEUE_SCHEDULED_WORKERS=1
SPECGEN_QUEUE_PRIORITY_WORKERS=1
SPECGEN_QUEUE_DEFAULT_WORKERS=1
"""


@dataclass
class Honcho:
    """`honcho start`, and what it printed."""

    process: subprocess.Popen[bytes]
    log: Path
    port: int

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def ask(self, path: str, body: object = None) -> dict[str, object]:
        """The answer as JSON; nothing while nobody answers."""
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())
        except OSError:
            assert self.process.poll() is None, self.said()[-4000:]
            return {}


@pytest.fixture
def empty_database(databases: Databases) -> Iterator[str]:
    """Its owner's, who migrates it."""
    with databases.new(as_owner=True) as url:
        yield url


@pytest.fixture
def honcho(tmp_path: Path, empty_database: str, free_port: int, repository: Callable[..., Path]) -> Iterator[Honcho]:
    repository("shop")
    shutil.copy(ROOT / "Procfile", tmp_path)
    (tmp_path / ".env").write_text(SETTINGS.format(repositories=tmp_path / "repositories"))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(tmp_path), "FAIRLANE_HOME": str(tmp_path / "home"), "PORT": str(free_port)}
    log = tmp_path / "honcho.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["honcho", "start"], cwd=tmp_path, env=env | {"DATABASE_URL": empty_database},
            stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        yield Honcho(process, log, free_port)
    finally:
        family = [*psutil.Process(process.pid).children(recursive=True)] if process.poll() is None else []
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        for left in family:
            if left.is_running():
                left.kill()


def test_honcho_start_comes_up_on_an_empty_database_analyses_and_goes_on(honcho: Honcho) -> None:
    wait_for(lambda: honcho.ask("/readyz").get("status") == "ready", "the web to be ready", seconds=240)
    job = honcho.ask("/api/v1/analyses", {"repository": "local:shop"})
    found = f"/api/v1/analyses/{job['id']}"
    wait_for(lambda: honcho.ask(found).get("status") == "completed", "the analysis", seconds=240)
    for queue in ALL_QUEUES:
        wait_for(lambda queue=queue: f"{queue}@" in _ready(honcho), f"the node of {queue}")
    assert honcho.process.poll() is None
    assert " stopped (rc" not in honcho.said()


def _ready(honcho: Honcho) -> str:
    return "\n".join(line for line in honcho.said().splitlines() if "ready." in line or "node_ready" in line)
