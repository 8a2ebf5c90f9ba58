"""Signs of life: every few seconds a process notes in a file of the home that its loop runs (docs/adr/0040)."""

from __future__ import annotations

import os
import time
from pathlib import Path

from app.processes import alive

#: Time between two signs.
SECONDS = 3.0


def give(home: Path, name: str) -> None:
    """Note that this process is alive.  name: of the node.  Raises: OSError."""
    path = _path(home, name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(f"{os.getpid()} {time.monotonic()}\n", encoding="ascii")
    aside.replace(path)  # readers always find a complete file


def age(home: Path, name: str) -> float | None:
    """Seconds since the last sign of a node; None if it gave none, or its process has ended.

    Measured on the clock that all processes of a machine share and nobody sets.
    """
    try:
        pid, at = _path(home, name).read_text(encoding="ascii").split()
        seconds = time.monotonic() - float(at)
        return seconds if seconds >= 0 and alive(int(pid)) else None  # below 0: from before the machine's start
    except (OSError, ValueError):
        return None


def _path(home: Path, name: str) -> Path:
    return home / "alive" / name.replace("/", "_")
