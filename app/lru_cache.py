"""A cache for values that never change: the most recently used values, up to a size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from sys import getsizeof
from threading import Lock
from typing import Generic, TypeVar
from uuid import UUID

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: What the cache itself keeps of an entry: its place in the table, and its links to the ones used before and after it.
ENTRY_BYTES = 160


class LruCache(Generic[K, V]):
    """Safe to use from several threads.

    most: the sum of `size` over all entries that are kept; size: of one entry when it came, not 0.
    """

    def __init__(self, most: int, size: Callable[[K, V], int] = lambda *_: 1) -> None:
        self._most, self._size, self._kept = most, size, 0
        # With its size, which may be another one later: a text takes more once C code has asked for its UTF-8.
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The value, which thereby becomes the most recently used one; None if it is not here."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def keep(self, key: K, value: V) -> None:
        """Keep a value, and drop the least recently used ones; one that is larger than `most` is not kept."""
        size = self._size(key, value)
        with self._lock:
            self._drop(key)
            if size > self._most:  # it would drop all others
                return
            self._values[key] = value, size
            self._kept += size
            while self._kept > self._most:
                self._drop(next(iter(self._values)))

    def _drop(self, key: K) -> None:
        if key in self._values:
            self._kept -= self._values.pop(key)[1]


def held_bytes(key: object, value: object) -> int:
    """Bytes of memory of an entry, whose key counts as well: of small values it is the larger part."""
    return ENTRY_BYTES + _bytes(key) + _bytes(value)


def _bytes(one: object) -> int:
    if one is None or isinstance(one, bool):
        return 0
    found = getsizeof(one)
    if isinstance(one, UUID):
        return found + getsizeof(one.int)
    if isinstance(one, Mapping):
        return found + sum(_bytes(name) + _bytes(of) for name, of in one.items())
    if isinstance(one, tuple | list):
        return found + sum(map(_bytes, one))
    if is_dataclass(one):
        return found + sum(_bytes(getattr(one, field.name)) for field in fields(one))
    return found
