"""A node's connection to kombu's event loop; without a loop, a blocking consumer asks the node when to come back."""

from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

#: Celery sees a signal to stop when its hub turns; an idle hub would turn only with the poll.
TURN_SECONDS = 1.0


class LoopTimer:
    """One timer and one descriptor on the hub.

    Everything a node does starts in a timer or in the callback of its descriptor, never on the hub's tick: the pool
    registers its pipes on the tick, and a message delivered after that waits for the next event (60 ms instead of 3).
    """

    def __init__(self, step: Callable[[], object]) -> None:
        self.loop: Any = None
        self._step = step
        self._pending: list[float] = []
        self._watched: int | None = None

    def within(self, seconds: float) -> None:
        """Take a step in `seconds` at the latest.

        A later time is kept as well: an unnecessary call costs nothing, whereas a timer that is cancelled thousands of
        times a second stays on the heap as many times.
        """
        if self.loop is None:
            return
        at = monotonic() + seconds
        if not self._pending or at < min(self._pending):
            self._pending.append(at)
            self.loop.call_later(seconds, self._due, at)

    def watch(self, descriptor: int | None, on_readable: Callable[[], object]) -> None:
        """Call back when the descriptor is readable."""
        self.unwatch()
        if self.loop is not None and descriptor is not None:
            self.loop.add_reader(descriptor, on_readable)
            self._watched = descriptor

    def unwatch(self) -> None:
        """Before the descriptor is closed: its number may be another file's by then."""
        watched, self._watched = self._watched, None
        if watched is not None:
            with suppress(OSError, ValueError, KeyError, AttributeError):  # the hub may be closed
                self.loop.remove_reader(watched)

    def _due(self, at: float) -> None:
        self._pending.remove(at)
        self._step()
