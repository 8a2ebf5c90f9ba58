"""A cache for values that never change: the most recently used values, up to a size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Safe to use from several threads.  most: the sum of `size` over all values that are kept."""

    def __init__(self, most: int, size: Callable[[V], int] = lambda _: 1) -> None:
        self._most, self._size, self._kept = most, size, 0
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The value, which thereby becomes the most recently used one; None if it is not here."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: K, value: V) -> None:
        """Keep a value, and drop the least recently used ones; one that is larger than `most` is not kept."""
        with self._lock:
            self._drop(key)
            self._values[key] = value
            self._kept += self._size(value)
            while self._kept > self._most:
                self._drop(next(iter(self._values)))

    def _drop(self, key: K) -> None:
        if key in self._values:
            self._kept -= self._size(self._values.pop(key))
