"""The folder in which the processes of one web keep what they count, for each other to read (docs/adr/0080)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from app.processes import alive

#: What prometheus_client reads when it is imported first.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
#: As it names the files of a process, by the kinds of app/process_metrics.py; and the room of each: 5,000 series.
KINDS = ("counter", "histogram", "gauge_livesum", "gauge_livemostrecent")
BYTES = 1 << 20

#: As os.posix_fallocate, which not every system has.
Reserve = Callable[[int, int, int], None]
_OF_SYSTEM: Reserve | None = getattr(os, "posix_fallocate", None)


def share(home: Path) -> None:
    """Make the folder of this main process, and remove those that a killed one has left.

    In a home that cannot be written to, each process counts by itself.
    """
    folder = home / "metrics" / str(os.getpid())
    os.environ.pop(VARIABLE, None)
    with suppress(OSError):
        for old in home.joinpath("metrics").glob("[0-9]*"):
            if old == folder or not alive(int(old.name)):
                shutil.rmtree(old, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        os.environ[VARIABLE] = str(folder)


def allocate(reserve: Reserve | None = _OF_SYSTEM) -> None:
    """Reserve the files of this process, before it counts anything.

    They are written through memory, and where a disk is full a page without a place kills the process.  Without room
    for them it counts by itself, in no file.
    """
    if reserve is None or not (folder := os.environ.get(VARIABLE)):
        return
    paths = [Path(folder) / f"{kind}_{os.getpid()}.db" for kind in KINDS]
    try:
        for path in paths:
            with path.open("wb") as file:
                reserve(file.fileno(), 0, BYTES)
    except OSError:
        del os.environ[VARIABLE]
        for path in paths:
            path.unlink(missing_ok=True)


def forget(pid: int) -> None:
    """Leave out what a process that has ended used last; what it counted stays."""
    if folder := os.environ.get(VARIABLE):
        # imported once the variable is set, which decides how it counts
        from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415

        mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]  # it has no types


def remove() -> None:
    """Remove the folder of this main process."""
    if folder := os.environ.get(VARIABLE):
        shutil.rmtree(folder, ignore_errors=True)
