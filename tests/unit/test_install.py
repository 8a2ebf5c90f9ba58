"""`make setup` says what it does, and why it failed."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from app.version import VERSION
from tests.nodes import ROOT

#: pip's words for an index that cannot be reached; one that lacks a version is a failure
UNREACHED = re.compile(r"NewConnectionError|ConnectTimeout|name resolution|Connection refused|Network is unreachable")
INSTALL = ROOT / "tools" / "install.py"


def version_of(package: str) -> str:
    text = (ROOT / "packages" / package / "pyproject.toml").read_text()
    return str(tomllib.loads(text)["project"]["version"])


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A package of one module."""
    path = tmp_path / "empty_thing-1.0-py3-none-any.whl"
    facts = "empty_thing-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("empty_thing.py", "")
        file.writestr(f"{facts}/METADATA", "Metadata-Version: 2.1\nName: empty-thing\nVersion: 1.0\n")
        file.writestr(
            f"{facts}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{facts}/RECORD", "")
    return path


def install(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, INSTALL, *arguments], capture_output=True, text=True)


@pytest.mark.release
def test_an_installation_tells_its_stages_with_the_time_that_went_by_and_nothing_else(
    tmp_path: Path, wheel: Path
) -> None:
    done = install(tmp_path / "made", "--no-index", wheel)
    assert (done.returncode, done.stderr) == (0, "")
    told = [re.fullmatch(r"setup \d+:\d\d  (.*)", line) for line in done.stdout.splitlines()]
    stages = [line[1] for line in told if line and not line[1].startswith("still ")]
    assert stages == [f"making {tmp_path / 'made'}", "looking for packages", "installing 1 packages", "done"]
    assert all(told)
    subprocess.run([tmp_path / "made" / "bin" / "python", "-c", "import empty_thing"], check=True)


def test_make_run_installs_what_running_needs_and_no_tools(tmp_path: Path) -> None:
    argv = ["make", "--dry-run", "run", f"VENV={tmp_path}"]
    told = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"'\.\[(.*)\]'", told) == ["embedded"]


def test_an_installation_that_fails_says_why_and_is_not_done() -> None:
    pip = [sys.executable, "-c", "print('Collecting thing'); print('ERROR: no such thing'); raise SystemExit(3)"]
    code = f"from install import Stages, follow; raise SystemExit(follow({pip!r}, Stages()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=INSTALL.parent, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "Collecting thing\nERROR: no such thing\n"


@pytest.mark.release
def test_the_service_and_its_own_packages_are_found_without_make(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "empty"], check=True)
    pip = [tmp_path / "empty" / "bin" / "python", "-m", "pip", "install", "--dry-run", "-c", "constraints.txt"]
    environ = os.environ | {"PWD": str(ROOT)}  # as a shell in this folder has it
    done = subprocess.run([*pip, ".[embedded]"], cwd=ROOT, env=environ, capture_output=True, text=True)
    if done.returncode and (found := UNREACHED.search(done.stderr)):
        pytest.skip(f"pip reaches no index ({found[0]})")
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stdout.splitlines() if line.startswith("Would install ")]
    ours = {f"{name}-{version_of(name)}" for name in ("celery-durable", "fairlane-client", "testlist")}
    assert {f"fairlane-{VERSION}", *ours} <= set(line.split())
