"""A run leaves no process behind: what it started and did not end is ended, and fails the run."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

import psutil

#: For what a test has asked to end a moment ago.
PATIENCE_SECONDS = 10.0


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
