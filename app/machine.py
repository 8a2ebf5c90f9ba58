"""Memory and processors that this process may use, within the limits of its control groups, and the memory it has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Machine:
    """What a process may use.  memory: bytes; processors: may be a part of one."""

    memory: int
    processors: float


def read(proc: Path = PROC, cgroups: Path = CGROUPS) -> Machine:
    """Read the memory and the processors that there are, used or not, so that each start finds the same."""
    folders = list(_folders(proc, cgroups))
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Machine(min([pages, *_memories(folders)]), min([float(_usable()), *_shares(folders)]))


def resident(proc: Path = PROC) -> int:
    """Bytes of memory that this process has, shared ones included; 0 where the system does not tell."""
    pages = _numbers(proc / "self" / "statm")
    return pages[1] * os.sysconf("SC_PAGE_SIZE") if pages else 0


def _usable() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # Linux
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _folders(proc: Path, cgroups: Path) -> Iterator[Path]:
    """The folders of this process' groups and of those around them, whose limits hold as well."""
    with suppress(OSError):
        for line in filter(None, proc.joinpath("self", "cgroup").read_bytes().split(b"\n")):
            _, controllers, path = os.fsdecode(line).split(":", 2)  # a folder may have any name
            mounted = cgroups / controllers  # version 2 names none
            own = mounted / path.lstrip("/")
            yield from (folder for folder in (own, *own.parents) if folder.is_relative_to(mounted))


def _memories(folders: list[Path]) -> Iterator[int]:
    for folder in folders:
        for name in ("memory.max", "memory.limit_in_bytes"):
            yield from (number for number in _numbers(folder / name)[:1] if number > 0)


def _shares(folders: list[Path]) -> Iterator[float]:
    """Processor time that a group may use in each second."""
    for folder in folders:
        of_version_1 = _numbers(folder / "cpu.cfs_quota_us") + _numbers(folder / "cpu.cfs_period_us")
        for numbers in (_numbers(folder / "cpu.max"), of_version_1):
            if len(numbers) == 2 and min(numbers) > 0:
                yield numbers[0] / numbers[1]


def _numbers(path: Path) -> list[int]:
    """The numbers in a file; none if it is missing, or says `max`."""
    try:
        return [int(word) for word in path.read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return []
