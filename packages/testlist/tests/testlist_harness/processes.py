"""Looking for processes that should be gone."""

import os
from pathlib import Path

from testlist.sandbox.guard import BEGIN


def children() -> list[str]:
    """Command lines of live children of this process's launcher: git and parsers."""
    launchers = [number for number, words in below(os.getpid()) if BEGIN in words]
    return [" ".join(words) for launcher in launchers for _, words in below(launcher)]


def below(process: int) -> list[tuple[int, list[str]]]:
    """Numbers and command lines of live children of a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            words = (stat.parent / "cmdline").read_text().split("\0")
        except (OSError, IndexError):  # it ended while we looked
            continue
        if parent == process:
            found.append((int(stat.parent.name), words))
    return found


def no_children_left() -> None:
    assert children() == []


def mentioning(word: str) -> list[str]:
    """Command lines of live processes that hold a word, without those of this one and its threads."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:  # it ended while we looked
            continue
        if word in line and path.parent.name != str(os.getpid()):
            found.append(line)
    return found
