"""Where tests are: few directories that say much."""

from __future__ import annotations

from collections.abc import Mapping

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


def _grouped(by_directory: Mapping[str, int], depth: int) -> dict[str, int]:
    groups: dict[str, int] = {}
    for directory, count in by_directory.items():
        top = "/".join(directory.split("/")[:depth])
        groups[top] = groups.get(top, 0) + count
    return groups


def _deepest(by_directory: Mapping[str, int]) -> int:
    return max((directory.count("/") + 1 for directory in by_directory), default=1)
