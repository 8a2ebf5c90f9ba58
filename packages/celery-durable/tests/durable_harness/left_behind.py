"""A run leaves no process behind: what it started and did not end is ended, and fails the run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

import psutil
import pytest

from durable_harness import warm

#: Names the folder of the run.  Not below pytest's own: another run as root closes that to a PostgreSQL's user.
RUN_FOLDER = "FAIRLANE_TEST_RUN"
#: For what a test has asked to end a moment ago.
PATIENCE_SECONDS = 60.0


def watch(config: pytest.Config) -> None:
    """A hook of a conftest.py, `pytest_configure`: the end of this run is checked, once, however many have it."""
    if not config.pluginmanager.has_plugin("left_behind"):
        config.pluginmanager.register(sys.modules[__name__], "left_behind")


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder in the controlling process, whose environment the xdist workers inherit."""
    if not hasattr(config, "workerinput"):
        # hundreds of workers are started: without bytecode each compiles all of the service, a third of a second
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ[RUN_FOLDER] = tempfile.mkdtemp(prefix="fairlane-test-")
        Path(os.environ[RUN_FOLDER]).chmod(0o755)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """End the process that nodes are forked from; fail if anything else that the run started is left."""
    warm.end()
    yield
    config = session.config
    if not hasattr(config, "workerinput"):
        run, basetemp = os.environ[RUN_FOLDER], config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        if left := end_left_behind((RUN_FOLDER, run), [Path(run), basetemp]):
            print("\nleft behind by the run, and ended:", *left, sep="\n  ")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove it when all have left."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(RUN_FOLDER), ignore_errors=True)


def end_left_behind(mark: tuple[str, str], folders: Collection[Path]) -> list[str]:
    """End the processes of a run that are still there.  Returns: what each one was.

    mark: a name and value that every process of the run has in its environment; folders: of the run, which a process
    may name that has another environment.  This process and those that started it are left alone, and the tracker of
    multiprocessing, which ends with this process.
    """
    mine = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    others = (process for process in psutil.process_iter() if process.pid not in mine)
    found = [one for one in others if _is_of(one, mark, folders) and "resource_tracker" not in _text(one)]
    _, alive = psutil.wait_procs(found, PATIENCE_SECONDS)
    told = [text for process in alive if (text := _text(process))]
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, PATIENCE_SECONDS)
    return told


def _is_of(process: psutil.Process, mark: tuple[str, str], folders: Collection[Path]) -> bool:
    name, value = mark
    try:
        if process.environ().get(name) == value:
            return True
    except (psutil.Error, OSError):  # it ended, or belongs to somebody else
        pass
    return any(str(folder) in argument for argument in _arguments(process) for folder in folders)


def _arguments(process: psutil.Process) -> Iterator[str]:
    try:
        yield from process.cmdline()
    except psutil.Error:
        return


def _text(process: psutil.Process) -> str:
    return " ".join(_arguments(process))[:200]
