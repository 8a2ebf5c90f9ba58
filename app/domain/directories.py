"""Where tests are: few directories that say much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import commonpath

MOST_ROWS = 12


def directories(by_directory: Mapping[str, int]) -> dict[str, int]:
    """Tests below each directory, at the most informative depth; the rest is summed up."""
    depth = 1
    while len(grouped := _grouped(by_directory, depth)) == 1 and depth < _deepest(by_directory):
        depth += 1
    largest = sorted(grouped.items(), key=lambda item: (-item[1], item[0]))
    if len(largest) <= MOST_ROWS:
        return dict(largest)
    rest = sum(count for _, count in largest[MOST_ROWS - 1 :])
    return dict(largest[: MOST_ROWS - 1]) | {"(others)": rest}


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """A directory or a file.  name: relative to the directory that lists it; tests: in it, at any depth."""

    name: str
    path: str
    tests: int
    is_directory: bool


def entries(tests: Mapping[str, int], under: str) -> list[DirectoryEntry]:
    """List a directory's contents: directories first, each by name.

    A directory that contains nothing but one other directory is shown together with it, as `src/main`.
    tests: numbers of tests by path, all below `under`; under: "" or a directory with its slash.
    """
    inside: dict[str, list[str]] = {}
    for path in tests:
        top, slash, _ = path.removeprefix(under).partition("/")
        inside.setdefault(top + slash, []).append(path)
    found = [_entry(name, paths, tests, under) for name, paths in inside.items()]
    return sorted(found, key=lambda entry: (not entry.is_directory, entry.name))


def _entry(name: str, paths: list[str], tests: Mapping[str, int], under: str) -> DirectoryEntry:
    total = sum(tests[path] for path in paths)
    if not name.endswith("/"):
        return DirectoryEntry(name, paths[0], total, is_directory=False)
    shared = commonpath([path.rpartition("/")[0] for path in paths])
    return DirectoryEntry(shared.removeprefix(under), shared + "/", total, is_directory=True)


def _grouped(by_directory: Mapping[str, int], depth: int) -> dict[str, int]:
    groups: dict[str, int] = {}
    for directory, count in by_directory.items():
        top = "/".join(directory.split("/")[:depth])
        groups[top] = groups.get(top, 0) + count
    return groups


def _deepest(by_directory: Mapping[str, int]) -> int:
    return max((directory.count("/") + 1 for directory in by_directory), default=1)
