"""Signs of life: every few seconds a process notes in a file of the home that its loop runs (docs/adr/0045)."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from pathlib import Path

from app.processes import alive

#: Time between two signs.
SECONDS = 3.0
#: Seconds since the start of the machine: what a shell can read as well (app/cli/fairlane-alive).
UPTIME = Path("/proc/uptime")


def give(home: Path, name: str) -> None:
    """Note that this process is alive, and tell systemd if it watches this process.  name: of the node.

    Raises: OSError.
    """
    _tell_systemd()
    path = _path(home, name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(f"{os.getpid()} {_clock()}\n", encoding="ascii")
    aside.replace(path)  # readers always find a complete file


def age(home: Path, name: str) -> float | None:
    """Seconds since the last sign of a node; None if it gave none, or its process has ended.

    Measured on the clock that all processes of a machine share and nobody sets.
    """
    try:
        pid, at = _path(home, name).read_text(encoding="ascii").split()
        seconds = _clock() - float(at)
        return seconds if seconds >= 0 and alive(int(pid)) else None  # below 0: from before the machine's start
    except (OSError, ValueError):
        return None


def _clock() -> float:
    try:
        return float(UPTIME.read_text(encoding="ascii").split()[0])
    except OSError:  # not on Linux
        return time.monotonic()


def _tell_systemd() -> None:
    """Send what WatchdogSec of the unit waits for (sd_notify).  A socket that is not there stops no work."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address or os.environ.get("WATCHDOG_PID") != str(os.getpid()):  # a child inherits both
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sending:
        sending.sendto(b"WATCHDOG=1", address.replace("@", "\0", 1) if address.startswith("@") else address)


def _path(home: Path, name: str) -> Path:
    return home / "alive" / name.replace("/", "_")
