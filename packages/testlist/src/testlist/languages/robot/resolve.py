"""Resolver across files: folders that are suites, and the files that say so."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from testlist.project import Project, above

INIT: Final = "__init__.robot"


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders of one repository that are suites by a file of their own."""

    own: frozenset[str]

    @classmethod
    def of(cls, project: Project) -> "Folders":
        """List them."""
        return cls(frozenset(path for path in project.paths if path.rpartition("/")[2] == INIT))

    def above(self, path: str) -> Iterator[tuple[str, str]]:
        """Suites around a file, the outermost first, each with the path of the file that it has or would have."""
        around = [(folder, f"{folder}/{INIT}".lstrip("/")) for folder in above(path)]
        last = max((place for place, (_, file) in enumerate(around) if file in self.own), default=-1)
        yield from reversed(around[: last + 1])
