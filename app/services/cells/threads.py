"""How many threads of a web one database may hold while it does not answer.

A database whose host has vanished is noticed after five seconds of connecting (app/store/core/connections.py), in which
each request holds a thread.  All threads together would wait for one cell, and the accounts of the others with them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from app.errors import Problem
from app.store.core.unit_of_work import OvertakenError

#: Of the 32 threads of a web (app/server/bridge.py), before it is known that nothing answers.
MOST = 20
#: After that: each holds its thread until the connection fails, and finds out whether there is an answer again.
TRIES = 2
#: A database that has answered nothing for so long is silent; one that is busy answers all the time.
SILENT_SECONDS = 1.0


class SilentError(Exception):
    """The database holds as many threads as it may, and answers none of them."""


@dataclass(slots=True)
class Held:
    """One thread that waits.  is_answered: false if it turns out that the database is away."""

    began: float
    is_answered: bool = True


@dataclass
class CellThreads:
    """The threads that wait for one database.  clock: seconds that only grow."""

    most: int = MOST
    clock: Callable[[], float] = time.monotonic
    #: Requests have waited in vain, and none has been answered since the last of them began.
    is_silent: bool = False
    _held: int = 0
    _answered: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def one(self) -> Iterator[Held]:
        """Hold a thread until the database has answered, or an exception that is no refusal says that it has not.

        Raises: SilentError.
        """
        held = self._enter()
        try:
            yield held
        except BaseException as error:
            # what the database has answered decides of these
            held.is_answered = isinstance(error, (Problem, OvertakenError))
            raise
        finally:
            self._leave(held)

    def _enter(self) -> Held:
        with self._lock:
            now = self.clock()
            if self._held >= (TRIES if self.is_silent else self.most) and now - self._answered > SILENT_SECONDS:
                raise SilentError
            if self._held == 0 and not self.is_silent:
                self._answered = now  # nobody has waited for it until now
            self._held += 1
            return Held(now)

    def _leave(self, held: Held) -> None:
        with self._lock:
            self._held -= 1
            now = self.clock()
            if held.is_answered:
                self._answered, self.is_silent = now, False
            elif now - held.began > SILENT_SECONDS and self._answered <= held.began:
                # a refused connection fails at once, and holds nobody up
                self.is_silent = True
