"""How many threads of a web one database may hold while it does not answer.

A database whose host has vanished is noticed after five seconds of connecting (app/store/core/connections.py), in which
each request holds a thread.  All threads together would wait for one cell, and the accounts of the others with them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition

from app.errors import Message, Problem, Unavailable
from app.store.core.unit_of_work import OvertakenError

#: Of the 32 threads of a web (app/server/bridge.py), whatever was answered before: beside the 4 that may wait for the
#: directory (find_cell.py) some are left for the other cells.  A web has as many connections, so further requests would
#: wait for one of these.
MOST = 20
#: After some have waited in vain: each holds its thread until the connection fails, and finds out whether there is an
#: answer again.
TRIES = 2
#: A database that has answered none of the most threads for so long is silent; one that is busy answers all the time.
#: Further requests wait for their turn meanwhile.
SILENT_SECONDS = 1.0
#: Requests that wait for their turn, each for as long at most, once all threads were held for so long.  They hold
#: threads of the web, too; a burst is over by then, and of a slow database the other cells must not notice anything.
WAITING = 4
RETRY_SECONDS = 2
SILENT = Message("The database of this account does not answer at present; try again")


class SilentError(Exception):
    """The database holds as many threads as it may, and answers none of them."""


@dataclass(slots=True)
class Held:
    """One thread that waits.

    began: when its wait for the database did; is_answered: false if it turns out that the database is away;
    is_let_go: it waits for something else.
    """

    began: float
    is_answered: bool = True
    is_let_go: bool = False


@dataclass
class CellThreads:
    """The threads that wait for one database.

    clock: seconds that only grow; pause: waits until a thread is free, for some seconds at most.
    """

    most: int = MOST
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[Condition, float], object] = Condition.wait
    #: Requests have waited in vain, and none has been answered since the last of them began.
    is_silent: bool = False
    _held: int = 0
    _waiting: int = 0
    _answered: float = 0.0
    #: Since when all threads are held, and given to whoever waits.  Before that, nothing had to be answered.
    _full: float | None = None
    _changed: Condition = field(default_factory=Condition)

    @contextmanager
    def one(self) -> Iterator[Held]:
        """Hold a thread until the database has answered, or an exception that is no refusal says that it has not.

        Raises: SilentError.
        """
        held = Held(self._enter())
        try:
            yield held
        except BaseException as error:
            # what the database has answered decides of these
            held.is_answered = isinstance(error, (Problem, OvertakenError))
            raise
        finally:
            self._leave(held)

    @contextmanager
    def let_go(self, held: Held) -> Iterator[None]:
        """Hold it no more while its request waits for somebody else than the database.

        Such waits say nothing of the database: look-ups at slow Git hosts alone would hold all threads.
        Raises: Unavailable after it.
        """
        with self._changed:
            held.is_let_go = True
            self._release()
        try:
            yield
        finally:
            try:
                held.began = self._enter()
            except SilentError:
                raise Unavailable(SILENT, retry_after=RETRY_SECONDS) from None
            held.is_let_go = False

    def _enter(self) -> float:
        with self._changed:
            due = self.clock() + SILENT_SECONDS
            while self._held >= (TRIES if self.is_silent else self.most):
                self._wait(due)
            now = self.clock()
            if self._held == 0 and not self.is_silent:
                self._answered = now  # nobody has waited for it until now
            self._held += 1
            if self._held < self.most:
                self._full = None
            elif self._full is None:
                self._full = now
            return now

    def _wait(self, due: float) -> None:
        now, full = self.clock(), self._full or 0.0
        left = min(due, max(self._answered, full) + SILENT_SECONDS) - now
        is_burst = now - full < SILENT_SECONDS
        if self.is_silent or left <= 0 or not (is_burst or self._waiting < WAITING):
            raise SilentError
        self._waiting += 1
        try:
            self.pause(self._changed, left)
        finally:
            self._waiting -= 1

    def _release(self) -> None:
        self._held -= 1
        if not self._waiting:
            self._full = None
        self._changed.notify()

    def _leave(self, held: Held) -> None:
        with self._changed:
            if held.is_let_go:  # it could not come back
                return
            now = self.clock()
            if held.is_answered:
                self._answered, self.is_silent = now, False
            elif now - held.began > SILENT_SECONDS and self._answered <= held.began:
                # a refused connection fails at once, and holds nobody up
                self.is_silent = True
                self._changed.notify_all()
            self._release()
