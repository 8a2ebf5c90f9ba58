"""Patterns of files that a compiler writes first: the sources they are made from are what a repository holds."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from tasks.inventory.project import Project, joined

#: how the pattern of a file ends that was JavaScript's, and how sources end
SUFFIX: Final = re.compile(r"\.(?:[cm]?jsx?|\{[^{}/]*\})$")
SOURCES: Final = ".{ts,tsx,mts,cts,js,jsx,mjs,cjs}"
#: folders of sources, which a compiler drops from paths
HOMES: Final = ("", "src")
#: a segment that is no name but a pattern
PATTERN: Final = re.compile(r"[*?{}()\[\]!]")


def compiled(project: Project, folder: str, patterns: Iterable[str]) -> tuple[str, ...]:
    """Patterns from the root of the repository, and those of the sources of each whose own folder is not there."""
    return tuple(
        pattern for one in patterns for pattern in (joined(folder, one), *_sources(project, folder, one.split("/")))
    )


def _sources(project: Project, folder: str, segments: list[str]) -> Iterator[str]:
    words = [one for one in segments if one != "."]
    if len(words) < 2 or PATTERN.search(words[0]) or ".." in words or joined(folder, words[0]) in project.folders:
        return
    for taken in range(1, len(words)):
        rest = [*words[taken:-1], SUFFIX.sub(lambda _: SOURCES, words[-1])]
        bare = taken == len(words) - 1 or PATTERN.search(rest[0])
        homes = [joined(folder, home) for home in HOMES]
        found = [home for home in homes if (home if bare else joined(home, rest[0])) in project.folders]
        if found:
            # of a folder of sources and the one around it, the tests lie in the former
            yield joined(found[-1], "/".join(rest))
            return
        if bare:
            return
