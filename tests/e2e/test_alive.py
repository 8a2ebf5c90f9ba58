"""`fairlane alive`, and `fairlane-alive`, which containers ask: yes of a node whose loop turns, no of one that hangs or has ended."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from durable_harness.waiting import wait_for

from tests.e2e.webs import Web
from tests.nodes import ROOT, LocalProcess, Nodes

pytestmark = pytest.mark.proof

COMMANDS = ([sys.executable, "-m", "app.cli", "alive"], [str(ROOT / "app" / "cli" / "fairlane-alive")])


@pytest.fixture(params=COMMANDS, ids=["python", "shell"])
def asked(nodes: Nodes, request: pytest.FixtureRequest) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Ask as a container's health check does: without the database's address."""

    def ask(name: str) -> subprocess.CompletedProcess[str]:
        environment = nodes.environment()
        environment.pop("DATABASE_URL")
        return subprocess.run([*request.param, name], cwd=ROOT, env=environment, capture_output=True, text=True)

    return ask


def hung(process: LocalProcess, nodes: Nodes) -> None:
    """Stop a process, and let its last sign be a minute old."""
    os.kill(process.pid, signal.SIGSTOP)
    wait_for(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED, "a process that stopped")
    signs = Path(nodes.environment()["FAIRLANE_HOME"]) / "alive"
    (sign,) = signs.glob(f"*@{socket.gethostname()}")  # not one that it was just writing
    pid, at = sign.read_text().split()
    sign.write_text(f"{pid} {float(at) - 60}\n")


def test_a_node_is_alive_until_its_loop_hangs_and_again_when_it_goes_on(
    nodes: Nodes, asked: Callable[..., object]
) -> None:
    worker = nodes.worker().container
    assert asked("node0").returncode == 0
    hung(worker, nodes)  # its session at the database stays open
    assert asked("node0").returncode == 1
    assert "last sign" in asked("node0").stderr
    os.kill(worker.pid, signal.SIGCONT)
    wait_for(lambda: asked("node0").returncode == 0, "a sign of the node that goes on")


def test_a_node_that_was_killed_is_not_alive_although_its_last_sign_is_fresh(
    nodes: Nodes, asked: Callable[..., object]
) -> None:
    worker = nodes.worker()
    assert asked(f"node0@{socket.gethostname()}").returncode == 0
    worker.kill("SIGKILL")
    done = asked("node0")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search("does not run on this host|has ended", done.stderr)


def test_beat_is_alive_whether_it_leads_or_not_until_it_hangs(nodes: Nodes, asked: Callable[..., object]) -> None:
    beat = nodes.beat()
    wait_for(lambda: asked("beat").returncode == 0, "the first sign of beat")
    hung(beat, nodes)
    assert asked("beat").returncode == 1


def test_the_check_of_the_image_asks_its_web(nodes: Nodes, tmp_path: Path) -> None:
    dockerfile = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    command = dockerfile.partition("\nHEALTHCHECK ")[2].partition("CMD ")[2].splitlines()[0]
    web = Web(nodes, tmp_path, "")
    asking = ["sh", "-c", command.replace("/8000", f"/{web.url.rpartition(':')[2]}")]
    environment = {"PATH": os.environ["PATH"]}
    assert subprocess.run(asking, env=environment).returncode == 0
    web.process.kill("SIGKILL")
    assert subprocess.run(asking, env=environment, stderr=subprocess.DEVNULL).returncode != 0
