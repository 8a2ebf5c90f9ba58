"""Patterns of files that a compiler writes first: the sources they are made from are what a repository holds."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from testlist.project import Project, joined

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
    base = folder
    while len(words) > 1 and (words[0] == ".." or joined(base, words[0]) in project.folders):
        base = joined(base, words.pop(0))
    while len(words) > 1 and PATTERN.search(words[0]) is None:
        del words[0]  # what is not there is the compiler's own
        bare = len(words) == 1 or PATTERN.search(words[0]) is not None
        homes = [joined(base, home) for home in HOMES]
        found = [home for home in homes if (home if bare else joined(home, words[0])) in project.folders]
        if found:
            # of a folder of sources and the one around it, the tests lie in the former
            yield joined(found[-1], "/".join([*words[:-1], SUFFIX.sub(lambda _: SOURCES, words[-1])]))
            return
