"""The end of a run finds what it left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import left_behind

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
