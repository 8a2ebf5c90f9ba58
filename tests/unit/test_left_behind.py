"""The end of a run finds what it left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import durable_harness
import pytest
from durable_harness import left_behind

ROOT = Path(__file__).parents[2]

SLEEPS = "import time; time.sleep(600)"


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    monkeypatch.setattr(left_behind, "PATIENCE_SECONDS", 0.1)
    with ExitStack() as stack:
        yield stack


def started(stack: ExitStack, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", SLEEPS, *arguments], env=os.environ | environment)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def test_what_has_the_mark_or_names_a_folder_of_the_run_is_ended_and_told(stack: ExitStack, tmp_path: Path) -> None:
    marked = started(stack, "marked", MARK_OF_THIS_TEST=str(tmp_path))
    names = started(stack, f"-D{tmp_path}/data")
    other = started(stack, "other", MARK_OF_THIS_TEST="another")
    told = left_behind.end_left_behind(("MARK_OF_THIS_TEST", str(tmp_path)), [tmp_path])
    marked.wait(30)
    names.wait(30)
    assert other.poll() is None
    assert sorted(text.split()[-1] for text in told) == sorted(["marked", f"-D{tmp_path}/data"])


def test_nothing_is_told_where_nothing_is_left(stack: ExitStack, tmp_path: Path) -> None:
    assert left_behind.end_left_behind(("MARK_OF_THIS_TEST", str(tmp_path)), [tmp_path]) == []


@pytest.mark.proof
@pytest.mark.parametrize(
    "collected",
    [
        ["packages/testlist/tests/kit/test_globs.py", "packages/fairlane-client/tests/test_client.py"],
        ["packages/testlist/tests/kit/test_globs.py"],
    ],
)
def test_the_end_of_a_run_is_checked_whichever_tests_are_collected(collected: list[str]) -> None:
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "--trace-config",
        "-p",
        "no:cacheprovider",
        *collected,
    ]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PLUGIN registered: <module 'durable_harness.left_behind'") == 1


@pytest.mark.proof
def test_a_run_that_leaves_a_process_fails_and_names_it(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from durable_harness import left_behind\n"
        "left_behind.PATIENCE_SECONDS = 0.1\n"
        "pytest_configure = left_behind.watch\n"
    )
    (tmp_path / "test_it.py").write_text(
        "import subprocess, sys\n"
        f"def test_it(): subprocess.Popen([sys.executable, '-c', {SLEEPS!r}, 'left by a test'])\n"
    )
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(Path(durable_harness.__file__).parents[1])}
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "left behind by the run, and ended:" in done.stdout
    assert "left by a test" in done.stdout
