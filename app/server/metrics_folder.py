"""The folder in which the processes of one web keep what they count, for each other to read (docs/adr/0080).

Files belong to a place, not to a process: one that starts takes a free place, and goes on counting where the process
that had it before ended.  So counters never go back, and there are as many files as processes at once.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import count
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

#: What prometheus_client reads when it is imported first.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
#: As it names the files of a place, by the kinds of app/process_metrics.py.
COUNTS, GAUGES = ("counter", "histogram"), ("gauge_livesum", "gauge_livemostrecent")
#: The room of each: more than all series can take (tests/web/test_web_metrics.py).
BYTES = 2 << 20
#: At the beginning of a file: how much of it is used.
_HEAD = 8

#: As os.posix_fallocate, which not every system has.
Reserve = Callable[[int, int, int], None]
_OF_SYSTEM: Reserve | None = getattr(os, "posix_fallocate", None)
#: The open folder, with its lock, of this main process and of those that it forks.
_held: list[int] = []


def share(home: Path, places: int, reserve: Reserve | None = _OF_SYSTEM) -> None:
    """Make the folder of this main process, with room for so many places; remove those whose processes have ended.

    Locks tell which these are, not process ids: webs in several containers may share a home, and have the same ids.
    In a home that cannot be written to, or has no room, each process counts by itself: all of them do, or a scrape
    that meets another process each time would see counters go back.

    Locks: the folder of all webs, then a new one in it.
    """
    os.environ.pop(VARIABLE, None)
    folders = home / "metrics"
    try:
        os.environ[VARIABLE] = folder = _new_folder(folders)
        for place in range(places):
            _make(_paths(folder, place, COUNTS + GAUGES), reserve)
    except OSError as error:
        remove()
        os.environ.pop(VARIABLE, None)
        log.warning("metrics_not_shared", folder=str(folders), error=error.strerror)


def _new_folder(folders: Path) -> str:
    folders.mkdir(mode=0o700, parents=True, exist_ok=True)
    all_of_them = _locked(folders, fcntl.LOCK_EX)
    try:
        for old in folders.iterdir():
            _remove_if_left(old)
        folder = tempfile.mkdtemp(dir=folders)
        _held[:] = [_locked(Path(folder), fcntl.LOCK_EX)]
    finally:
        os.close(all_of_them)
    return folder


def free_place(taken: Collection[int]) -> int:
    """The place of a process that starts.  taken: those of the others."""
    return next(place for place in count() if place not in taken)


def allocate(place: int, reserve: Reserve | None = _OF_SYSTEM) -> None:
    """Let this process count in the files of a place, and reserve them, before it counts anything.

    They are written through memory, and where a disk is full a page without a place on it kills the process.  Without
    room for them it counts by itself, in no file.
    """
    if not (folder := os.environ.get(VARIABLE)):
        return
    paths = _paths(folder, place, COUNTS + GAUGES)
    new = [path for path in paths if not path.exists()]
    forget(place)
    try:
        _make(paths, reserve)
    except OSError as error:
        log.warning("metrics_not_shared", folder=folder, error=error.strerror)
        del os.environ[VARIABLE]
        for path in new:
            path.unlink(missing_ok=True)
        return
    # imported once the variable is set, which decides how it counts
    from prometheus_client import values  # noqa: PLC0415

    values.ValueClass = values.MultiProcessValue(lambda: place)  # type: ignore[no-untyped-call]  # it has no types


def forget(place: int) -> None:
    """Leave out what a process that has ended used last; what it counted stays, and so does the room of the files."""
    if folder := os.environ.get(VARIABLE):
        for path in _paths(folder, place, GAUGES):
            with suppress(OSError), path.open("r+b") as file:
                file.write(bytes(_HEAD))


def remove() -> None:
    """Remove the folder of this main process."""
    if folder := os.environ.get(VARIABLE):
        shutil.rmtree(folder, ignore_errors=True)


def _make(paths: Collection[Path], reserve: Reserve | None) -> None:
    """Make files that are not there, and keep room for them on the disk.  Raises: OSError."""
    for path in paths:
        with path.open("ab") as file:
            if reserve is not None:
                reserve(file.fileno(), 0, BYTES)


def _paths(folder: str, place: int, kinds: Collection[str]) -> list[Path]:
    return [Path(folder) / f"{kind}_{place}.db" for kind in kinds]


def _locked(folder: Path, how: int) -> int:
    """The open folder; its lock ends when no process has it open.  Raises: OSError."""
    found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(found, how)
    except BaseException:
        os.close(found)
        raise
    return found


def _remove_if_left(folder: Path) -> None:
    """Remove the folder unless a process has it."""
    with suppress(OSError):
        os.close(_locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB))
        shutil.rmtree(folder, ignore_errors=True)
