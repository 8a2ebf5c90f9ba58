"""Two numbers for each key, in memory that all processes share which were forked from the one that made it."""

from __future__ import annotations

import fcntl
import mmap
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b

#: 10,240 keys, 320 KB.  A key has a set of rows; a full set drops the key whose second number is the least.
SETS, WAYS = 1280, 8
#: Locks, each for every 64th set.
STRIPES = 64
_ROW = struct.Struct("=16sdd")
_NONE = bytes(16)

Numbers = tuple[float, float]


@dataclass(slots=True)
class SharedRow:
    """A locked row.  numbers: None for a key that the table does not have; what is set is stored."""

    numbers: Numbers | None


class SharedTable:
    """A table in memory.  is_shared: processes will be forked that use it as well."""

    def __init__(self, sets: int = SETS, *, is_shared: bool = False) -> None:
        self._sets = sets
        self._memory = mmap.mmap(-1, sets * WAYS * _ROW.size)
        # the system's locks are those of a process: it refuses one for fear of a deadlock if some thread of the process
        # holds another, so a process that shares the table has one thread at a time in it
        self._threads = [threading.Lock() for _ in range(1 if is_shared else STRIPES)]
        # the system releases the locks of a process that is killed
        self._locks = tempfile.TemporaryFile() if is_shared else None  # noqa: SIM115 - open as long as the table

    @contextmanager
    def row(self, key: str) -> Iterator[SharedRow]:
        """Lock the key's row, and store its numbers at the end, unless by an exception."""
        name = blake2b(key.encode(), digest_size=len(_NONE)).digest()
        number = int.from_bytes(name[:8]) % self._sets
        with self._locked(number % STRIPES):
            place, found = self._find(number, name)
            row = SharedRow(found)
            yield row
            if row.numbers is not None:
                _ROW.pack_into(self._memory, place, name, *row.numbers)

    def _find(self, number: int, name: bytes) -> tuple[int, Numbers | None]:
        """Where the key's row is, or may be put."""
        first = number * WAYS * _ROW.size
        oldest = (True, float("inf"), first)
        for place in range(first, first + WAYS * _ROW.size, _ROW.size):
            known, one, two = _ROW.unpack_from(self._memory, place)
            if known == name:
                return place, (one, two)
            oldest = min(oldest, (known != _NONE, two, place))
        return oldest[2], None

    @contextmanager
    def _locked(self, stripe: int) -> Iterator[None]:
        with self._threads[stripe % len(self._threads)]:
            if self._locks is None:
                yield
                return
            fcntl.lockf(self._locks, fcntl.LOCK_EX, 1, stripe)
            try:
                yield
            finally:
                fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, stripe)


_shared: list[SharedTable] = []


def share() -> None:
    """Make the table of all processes that will be forked."""
    _shared[:] = [SharedTable(is_shared=True)]


def table() -> SharedTable:
    """The table that was shared before the fork, or else a new one for this process alone."""
    return _shared[0] if _shared else SharedTable()
