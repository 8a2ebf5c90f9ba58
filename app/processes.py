"""Facts about processes from the kernel: alive or a zombie, working directory, session; and what it reveals of ours."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection, Iterator
from pathlib import Path

PROC = Path("/proc")
PR_SET_DUMPABLE = 4


def keep_private() -> None:
    """Hide memory and environment of this process, and of those it forks, from all but root; disable core dumps."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)  # Linux
    if prctl is not None:
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def alive(pid: int) -> bool:
    """Whether the process still runs; a zombie does not, although kill(pid, 0) finds it."""
    if not PROC.joinpath("self").exists():  # no /proc (macOS): we can only check that it exists
        return _exists(pid)
    fields = _stat(pid)
    return bool(fields) and fields[0] not in ("Z", "X")


def works_in(pid: int, folder: Path) -> bool:
    """Whether the process has this folder as its working directory.

    A container's root without CAP_SYS_PTRACE may not read the link of another user's process.  Then the argument list,
    which anybody may read, decides.
    """
    if not PROC.joinpath("self").exists():
        return alive(pid)
    try:
        return PROC.joinpath(str(pid), "cwd").samefile(folder)
    except PermissionError:
        return os.fsencode(folder) in _read(pid, "cmdline").split(b"\0")
    except OSError:
        return False


def working_in(folder: Path, *, program: str) -> set[int]:
    """Find live processes of a program whose working directory is the folder; none if /proc is missing."""
    return {pid for pid in _all() if _program(pid) == program and alive(pid) and works_in(pid, folder)}


def survivors(sessions: Collection[int], mark: str) -> set[int]:
    """Find live processes that are in one of the sessions, or were started with `mark` in their environment.

    mark: as NAME=VALUE.  It finds grandchildren that created a session of their own.
    """
    return {pid for pid in _all() if pid != os.getpid() and _belongs(pid, sessions, mark.encode())}


def _belongs(pid: int, sessions: Collection[int], mark: bytes) -> bool:
    fields = _stat(pid)
    if not fields or fields[0] in ("Z", "X"):
        return False
    return int(fields[3]) in sessions or mark in _read(pid, "environ").split(b"\0")


def _program(pid: int) -> str:
    return _read(pid, "comm").decode(errors="replace").strip()  # the kernel keeps 15 characters


def _all() -> Iterator[int]:
    if PROC.joinpath("self").exists():
        yield from (int(entry.name) for entry in PROC.iterdir() if entry.name.isdecimal())


def _stat(pid: int) -> list[str]:
    # the program's name may contain spaces and brackets, so the fields start after the last bracket
    return _read(pid, "stat").decode(errors="replace").rpartition(")")[2].split()


def _read(pid: int, name: str) -> bytes:
    try:
        return PROC.joinpath(str(pid), name).read_bytes()
    except OSError:
        return b""


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
