"""Connections whose server has to answer in time.

libpq waits for an answer for ever.  TCP notices a host that has vanished, but not a server whose processes stand still:
its system goes on acknowledging what it gets.  So a thread shuts the connection down once the answer is overdue, which
libpq takes for a server that has gone.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from threading import Lock, Thread
from typing import Any

from psycopg2 import extensions

#: For a check, a BEGIN, a COMMIT or a ROLLBACK; beyond its own time limit for a statement that may take long.
ANSWER_SECONDS = 4.0
#: How often the thread looks, and how long it stays when nothing is awaited any more.
LOOK_SECONDS = 0.5


class AnswerWatch:
    """Shuts down the connections whose answers are overdue.  Its thread runs only while answers are awaited."""

    def __init__(self) -> None:
        self._changing = Lock()
        self._awaited = dict[socket.socket, float]()
        self._is_watching = False

    @contextmanager
    def answer(self, descriptor: int, seconds: float) -> Iterator[None]:
        """Await an answer in the block.  descriptor: of the connection's socket."""
        # of our own, as libpq may close its descriptor meanwhile, and another connection may get the same number
        line = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=os.dup(descriptor))
        try:
            with self._changing:
                self._awaited[line] = time.monotonic() + seconds
                if not self._is_watching:
                    Thread(target=self._look, name="answers of databases", daemon=True).start()
                    self._is_watching = True
            yield
        finally:
            with self._changing:
                del self._awaited[line]
            line.close()

    def _look(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            with self._changing:
                now = time.monotonic()
                for line, due in self._awaited.items():
                    if due <= now:
                        with suppress(OSError):  # it is shut down already
                            line.shutdown(socket.SHUT_RDWR)
                if not self._awaited:
                    self._is_watching = False
                    return


WATCH = AnswerWatch()


class WatchedConnection(extensions.connection):
    """A connection that is given up when an answer is overdue.

    answer_seconds: how long one may take; usual_seconds: what that is outside of `fetching` and `committing`;
    fetch_seconds: of a statement with a time limit of its own; commit_seconds: of a COMMIT, None for no end.
    """

    answer_seconds: float | None = ANSWER_SECONDS
    usual_seconds: float = ANSWER_SECONDS
    fetch_seconds: float = ANSWER_SECONDS
    commit_seconds: float | None = ANSWER_SECONDS

    def commit(self) -> None:
        """Commit, in time, as after what SQLAlchemy asks a new server.  Raises: psycopg2.Error."""
        with self._ending():
            super().commit()

    def rollback(self) -> None:
        """Like `commit`."""
        with self._ending():
            super().rollback()

    def awaiting(self) -> AbstractContextManager[None]:
        """Wait in the block as long as an answer may take."""
        if self.answer_seconds is None or self.closed:
            return nullcontext()
        return WATCH.answer(self.fileno(), self.answer_seconds)

    def _ending(self) -> AbstractContextManager[None]:
        return self.awaiting() if self.status == extensions.STATUS_BEGIN else nullcontext()  # otherwise nothing is sent

    def fetching(self) -> AbstractContextManager[None]:
        """Wait for the statements in the block as long as they may take."""
        return self._allowing(self.fetch_seconds)

    def committing(self) -> AbstractContextManager[None]:
        """Wait for the COMMIT in the block as long as it may take."""
        return self._allowing(self.commit_seconds)

    @contextmanager
    def _allowing(self, seconds: float | None) -> Iterator[None]:
        self.answer_seconds = seconds
        try:
            yield
        finally:
            self.answer_seconds = self.usual_seconds


class WatchedCursor(extensions.cursor):
    """A cursor of such a connection."""

    def execute(self, *given: Any) -> None:
        """Execute, and wait for the answer as long as the connection says.  Raises: psycopg2.Error."""
        connection: WatchedConnection = self.connection  # type: ignore[assignment]
        with connection.awaiting():
            super().execute(*given)


def watched(statement_seconds: float, *, is_replica: bool = True) -> Callable[..., WatchedConnection]:
    """Make connections to a server that has to answer in time.

    statement_seconds: its limit; is_replica: the primary can answer instead, so a check and the end of a
    transaction may take less than a statement.  No limit is that of a primary's COMMIT, which may wait for a standby:
    it would be made without its answer, and its session would go on waiting at the server, beside all that follow.
    Raises: ValueError without a limit of a statement, as the longest ones would be taken for a server that is silent.
    """
    if not statement_seconds:
        raise ValueError("a server that has to answer in time needs a time limit of its statements")
    longest = statement_seconds + ANSWER_SECONDS

    def connect(*given: Any, **named: Any) -> WatchedConnection:
        connection = WatchedConnection(*given, **named)
        connection.cursor_factory = WatchedCursor
        connection.fetch_seconds = longest
        connection.answer_seconds = connection.usual_seconds = ANSWER_SECONDS if is_replica else longest
        connection.commit_seconds = ANSWER_SECONDS if is_replica else None
        return connection

    return connect
