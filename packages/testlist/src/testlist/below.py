"""What lies below the folders of a commit."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

Known = TypeVar("Known")


class Below(Generic[Known]):
    """What an earlier commit has below its folders, each once its path is known."""

    def __init__(self, known: Mapping[str, Known]) -> None:
        """Paths are sorted once, as git sorts them."""
        self._known, self._paths = known, sorted(known)

    def of(self, folder: str) -> Iterator[tuple[str, Known]]:
        """Below a folder, itself too; all of it for an empty name."""
        for place in range(bisect_left(self._paths, folder), len(self._paths)):
            if not self._paths[place].startswith(folder):
                return
            yield self._paths[place], self._known[self._paths[place]]
