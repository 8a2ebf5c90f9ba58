"""What the processes of a tree hold: memory of their own, descriptors, threads, and how many they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

_QUEUES = re.compile(r" -Q (\S+)")
#: By the distance from the top.  What is deeper lives for one repository and is not judged by its memory.
_LEVELS = ("", ", its processes", ", their launchers")
_OF_SERVER = re.compile(r"/pg\d+/")
SHORT = "git and parsers"

#: (what, part) -> value
Sample = Counter[tuple[str, str]]


def of_tree(top: int) -> Sample:
    """What the supervisor of `fairlane up` and all below it hold."""
    found: Sample = Counter()
    for process, part in parts(top):
        add(found, process, part)
    return found


def parts(top: int) -> Iterator[tuple[psutil.Process, str]]:
    """Each process and what it is part of, without PostgreSQL."""
    supervisor = psutil.Process(top)
    yield supervisor, "fairlane up"
    for child in supervisor.children():
        with suppress(psutil.Error):
            yield from _below(child, _name(child), 0)


def _below(process: psutil.Process, name: str, level: int) -> Iterator[tuple[psutil.Process, str]]:
    if name == "PostgreSQL":
        return
    yield process, f"{name}{_LEVELS[level]}" if level < len(_LEVELS) else SHORT
    with suppress(psutil.Error):
        for child in process.children():
            yield from _below(child, name, level + 1)


def _name(process: psutil.Process) -> str:
    words = " ".join(process.cmdline())
    if " worker " in words and (queues := _QUEUES.search(words)):
        return f"node {queues[1].replace('analysis', 'a').replace('specview', 's')}"
    for word, name in ((" beat ", "beat"), ("postgres", "PostgreSQL"), ("gunicorn", "web")):
        if word in words:
            return name
    return "guard"


def add(found: Sample, process: psutil.Process, part: str) -> None:
    """Count one process; nothing of one that has ended meanwhile."""
    with suppress(psutil.Error, OSError):
        if process.status() == psutil.STATUS_ZOMBIE:
            found["zombies", part] += 1
            return
        own, shared = memory(process.pid)
        descriptors, threads = process.num_fds(), process.num_threads()
        found["processes", part] += 1
        found["memory", part] += own
        found["pss", part] += shared
        found["descriptors", part] += descriptors
        found["threads", part] += threads


def memory(pid: int) -> tuple[int, int]:
    """Bytes that the process allocated, and those with its part of files and of what others share."""
    figures = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]:
        name, value = line.split(":")
        figures[name] = int(value.split()[0]) * 1024
    return figures["Pss_Anon"], figures["Pss"]


def zombies(top: int) -> list[str]:
    """Processes of a tree that ended and that nobody waited for."""
    return [part for process, part in parts(top) if _is_zombie(process)]


def _is_zombie(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    return False


def files(folders: Iterable[Path]) -> set[str]:
    """All files below folders, without PostgreSQL's."""
    return {
        str(path)
        for folder in folders
        for path in folder.rglob("*")
        if not _OF_SERVER.search(str(path)) and path.is_file()
    }
