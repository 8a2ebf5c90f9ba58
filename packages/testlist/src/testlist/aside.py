"""What is not needed for a while."""

import pickle
from typing import Any, Final, Generic, TypeVar

Kept = TypeVar("Kept")

#: files of a commit from which on memory counts more than a little time
LARGE: Final = 20_000


class Aside(Generic[Kept]):
    """A value as bytes, if it is of a large commit.

    Rows lie in memory between the facts they were made of, and would keep all of it from being used again.
    """

    __slots__ = ("_kept", "_packs")

    def __init__(self, value: Kept, *, packs: bool) -> None:
        """Keep the value itself, or what makes an equal one."""
        self._packs = packs
        self._kept: Any = pickle.dumps(value, pickle.HIGHEST_PROTOCOL) if packs else value

    def back(self) -> Kept:
        """Give the value, or an equal one."""
        value: Kept = pickle.loads(self._kept) if self._packs else self._kept  # noqa: S301 - our own
        return value
