"""How a long run says that it goes on, and how far it is."""

import time
from collections.abc import Callable
from dataclasses import dataclass

#: (phase, done, total); phase is fetching, parsing or saving; total 0 means not known yet.
#: It is called at least once a second during long work and may raise a `Stopped` to stop the run.
Checkpoint = Callable[[str, int, int], None]


class Stopped(Exception):  # noqa: N818 - not a failure
    """What a checkpoint, or a signal, raises to stop a run: nothing takes it for a fault of a framework's rules."""


def silent(phase: str, done: int, total: int) -> None:
    """Report to nobody."""


@dataclass(slots=True)
class Progress:
    """A checkpoint that may be called as often as one likes: it passes on two calls a second."""

    checkpoint: Checkpoint = silent
    every: float = 0.5  # seconds
    due: float = 0.0
    last: tuple[str, int, int] = ("fetching", 0, 0)

    def at(self, phase: str, done: int, total: int) -> None:
        """Say how far the run is."""
        self.last = (phase, done, total)
        self.beat()

    def beat(self) -> None:
        """Say that the run goes on, if it is time to say so."""
        now = time.monotonic()
        if now >= self.due:
            self.due = now + self.every
            self.checkpoint(*self.last)
