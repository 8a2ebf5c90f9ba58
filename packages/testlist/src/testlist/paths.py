"""The paths of a commit, also by the names of files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Final

from testlist.project import folder_of, folders_of

#: a name that stands for more files than this says nothing
NAMESAKES: Final = 50


@dataclass(frozen=True)
class Paths:
    """Every file.  blobs: path -> anything; known: what `nearest` found, by the end and the folder of the path."""

    blobs: Mapping[str, object]
    known: dict[tuple[str, str], str] = field(default_factory=dict)

    def __contains__(self, path: str) -> bool:
        return path in self.blobs

    def __iter__(self) -> Iterator[str]:
        return iter(self.blobs)

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Name of a file in lower case -> the files of this name."""
        found: dict[str, list[str]] = {}
        for path in self.blobs:
            found.setdefault(path.rpartition("/")[2].lower(), []).append(path)
        return found

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder with files, and those around it, but the root."""
        return folders_of(self.blobs) - {""}

    def ending(self, end: str, path: str) -> list[str]:
        """Files whose path ends so, whatever the case, those with the most folders in common with a path first."""
        tail = f"/{end.lower()}"
        namesakes = self.by_name.get(tail.rpartition("/")[2], [])
        found = [one for one in namesakes if f"/{one.lower()}".endswith(tail)] if len(namesakes) <= NAMESAKES else []
        return sorted(found, key=lambda one: (-common(one, path), one))

    def nearest(self, end: str, path: str) -> str:
        """The file with this end that has the most folders in common with a path; empty for none, and for several."""
        key = end, folder_of(path)
        if key not in self.known:
            found = self.ending(end, path)
            is_one = len(found) == 1 or (found and common(found[0], path) > common(found[1], path))
            self.known[key] = found[0] if is_one else ""
        return self.known[key]


def common(one: str, other: str) -> int:
    """How many folders from the root on two files have in common."""
    pairs = zip(one.split("/")[:-1], other.split("/")[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
