"""How many threads of a web one cell may hold while it does not answer.

A database whose host has vanished is noticed after five seconds of connecting (app/store/core/connections.py), in which
each request holds a thread.  All threads together would wait for one cell, and the accounts of the others with them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

#: Of the 32 threads of a web (app/server/bridge.py).
MOST = 20
#: A cell that has answered nothing for so long is held to `MOST`; one that is busy answers all the time.
SILENT_SECONDS = 1.0


class SilentError(Exception):
    """The cell holds as many threads as it may, and answers none of them."""


@dataclass
class CellThreads:
    """The threads that wait for one cell.  clock: seconds that only grow."""

    most: int = MOST
    clock: Callable[[], float] = time.monotonic
    _held: int = 0
    _answered: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Hold a thread until the cell has answered.  Raises: SilentError."""
        with self._lock:
            if self._held >= self.most and self.clock() - self._answered > SILENT_SECONDS:
                raise SilentError
            if self._held == 0:
                self._answered = self.clock()  # nobody has waited for it until now
            self._held += 1
        try:
            yield
        finally:
            with self._lock:
                self._held -= 1
                self._answered = self.clock()
