"""`fairlane up` as a stranger runs it: a fresh home, the embedded PostgreSQL, every process of the product."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from durable_harness.environment import bare_environment
from durable_harness.waiting import wait_for

from tests.nodes import ROOT, lives

pytestmark = pytest.mark.proof

COMMAND = [sys.executable, "-m", "app.cli", "up", "--no-open", "--workers", "tier"]
#: Ten processes start, and each imports for seconds where others are busy as well.
READY_SECONDS = 240.0
SMALL = {
    "ANALYZER_QUEUE_PRIORITY_WORKERS": "1",
    "ANALYZER_QUEUE_DEFAULT_WORKERS": "1",
    "ANALYZER_QUEUE_SCHEDULED_WORKERS": "1",
    "SPECGEN_QUEUE_PRIORITY_WORKERS": "1",
    "SPECGEN_QUEUE_DEFAULT_WORKERS": "1",
    "WEB_CONCURRENCY": "2",
}


@dataclass
class Up:
    """One running tree."""

    process: subprocess.Popen[bytes]
    log: Path
    env: dict[str, str]
    port: int

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def wait_until_ready(self) -> None:
        ready = "ready http://"
        wait_for(lambda: ready in self.said() or self.process.poll() is not None, ready, seconds=READY_SECONDS)
        assert self.process.poll() is None, self.said()

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)

    def ask(self, path: str, body: object = None) -> dict[str, object]:
        token = re.search(r"fl_[\w-]+", self.said())
        assert token
        headers = {"Authorization": f"Bearer {token[0]}", "Content-Type": "application/json"}
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: dict[str, object] = json.loads(answer.read())
        return found


def started(argv: list[str], log: Path, env: dict[str, str], port: int, *, folder: Path = ROOT) -> Up:
    """Not ready yet.  folder: where it is started."""
    with log.open("wb") as output:
        process = subprocess.Popen(argv, cwd=folder, env=env, stdout=output, stderr=subprocess.STDOUT)
    return Up(process, log, env, port)


@pytest.fixture
def up(tmp_path: Path, free_port: int, repository: Callable[..., Path]) -> Iterator[Up]:
    repository("shop")
    kept = bare_environment()
    env = kept | SMALL | {"FAIRLANE_HOME": str(tmp_path / "home"), "LOCAL_REPOS_ROOT": str(tmp_path / "repositories")}
    running = started([*COMMAND, "--port", str(free_port)], tmp_path / "up.log", env, free_port)
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.end()


def test_up_analyses_a_repository_refuses_a_second_start_and_stops_without_a_trace(up: Up) -> None:
    job = up.ask("/api/v1/analyses", {"repository": "local:shop"})
    wait_for(lambda: up.ask(f"/api/v1/analyses/{job['id']}")["status"] == "completed", "the analysis")
    assert (
        re.search("booting|listening", up.said(), re.IGNORECASE) is None
    )  # what follows `ready` are people's requests
    second = subprocess.run([*COMMAND, "--port", "1"], cwd=ROOT, env=up.env, capture_output=True, text=True)
    assert second.returncode == 1
    assert f"already runs for {up.env['FAIRLANE_HOME']}" in second.stderr
    family = up.family()
    up.process.send_signal(signal.SIGTERM)
    assert up.process.wait(60) == 0
    assert [process for process in family if lives(process)] == []


def test_a_killed_up_takes_its_tree_along_and_the_next_one_goes_on_with_its_data(up: Up, tmp_path: Path) -> None:
    job = up.ask("/api/v1/analyses", {"repository": "local:shop"})
    ours = [process for process in up.family() if not _is_servers(process)]
    up.process.kill()
    up.process.wait(60)
    wait_for(lambda: not [process for process in ours if lives(process)], "the tree to end", seconds=30)
    token = re.search(r"fl_[\w-]+", up.said())
    with (tmp_path / "again.log").open("wb") as output:
        argv = [*COMMAND, "--port", str(up.port)]
        up.process = subprocess.Popen(argv, cwd=ROOT, env=up.env, stdout=output, stderr=subprocess.STDOUT)
    again = tmp_path / "again.log"
    wait_for(lambda: "ready http://" in again.read_text(), "the second start", seconds=READY_SECONDS)
    assert "fl_" not in again.read_text(), "the token is shown once"
    assert token
    wait_for(lambda: up.ask(f"/api/v1/analyses/{job['id']}")["status"] == "completed", "the job of before")


def _is_servers(process: psutil.Process) -> bool:
    try:
        return process.name() == "postgres"
    except psutil.NoSuchProcess:  # a git of the job
        return False
