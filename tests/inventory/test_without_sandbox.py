"""Where the kernel offers no sandbox nothing starts, and one line says why."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from testlist_harness.repositories import MakeRepository

from tests.tiers import few

ROOT = Path(__file__).parents[2]
#: runs a program in a world without Landlock, as older kernels and some containers are
WITHOUT = """
import os, sys
from testlist.sandbox import seccomp
from testlist.sandbox.kernel import prctl
prctl(38, 1)
codes = [seccomp._LOAD, 0, 0, 0], *seccomp._one("landlock_create_ruleset", [seccomp._refuse(38)]), seccomp._answer(0x7FFF0000)
seccomp.install(seccomp._packed(map(tuple, codes)))
os.execv(sys.argv[1], sys.argv[1:])
"""
STARTS = {
    "the inventory": ["-m", "app.cli", "inventory", "REPOSITORY"],
    "all of it": ["-m", "app.cli", "up", "--no-open"],
    "a worker": ["-m", "celery", "-A", "tasks", "worker", "-Q", "analysis_default", "-P", "solo"],
}


@pytest.mark.parametrize("what", few(1, STARTS))
def test_without_a_sandbox_nothing_starts_and_one_line_says_why(
    what: str, make_repository: MakeRepository, tmp_path: Path
) -> None:
    repository = str(make_repository({"test_a.py": "def test_a(): pass\n"}))
    words = [word.replace("REPOSITORY", repository) for word in STARTS[what]]
    env = {**os.environ, "FAIRLANE_HOME": str(tmp_path / "home"), "DATABASE_URL": "postgresql://127.0.0.1:1/none"}
    argv = [sys.executable, "-c", WITHOUT, sys.executable, *words]
    refused = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    told = [line for line in refused.stderr.splitlines() if "fairlane" in line]
    assert len(told) == 1
    assert "SANDBOX=off" in told[0]
    assert "Landlock" in told[0]
    assert "Traceback" not in refused.stderr
    if what == "the inventory":
        plain = subprocess.run(
            argv, cwd=ROOT, env=env | {"SANDBOX": "off"}, capture_output=True, text=True, check=False
        )
        assert (plain.returncode, "test_a" in plain.stdout) == (0, True)
