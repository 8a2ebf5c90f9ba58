"""A connection that need not be waited for: an event loop continues while the server claims and commits."""

import select
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, NoReturn

import psycopg2
from psycopg2.extensions import POLL_OK, POLL_READ

from .celery_worker import is_stopping
from .database import Database, Parameters, Row, told_apart

#: An answer that takes longer does not come: something between us and the server accepts and is silent, or the server
#: stands still.  The session's own time-outs are shorter, so what is only slow or locked is refused before.
ANSWER_SECONDS = 12.0
#: As long at most when the worker has been asked to stop.
STOPPING_SECONDS = 3.0
#: How often a wait looks whether it has been.
LOOK_SECONDS = 0.5


class PendingStatement(NamedTuple):
    """A statement under way.

    since: monotonic seconds; on_rows: takes its rows; on_failure: the connection broke before the answer.
    """

    cursor: Any
    since: float
    on_rows: Callable[[list[Row]], None]
    on_failure: Callable[[], None]


class DeadlineDatabase(Database):
    """A Database that gives up on a peer that accepts and is silent, where psycopg2 would wait for ever."""

    def _execute(self, cursor: Any, statement: str, parameters: Any) -> None:
        cursor.execute(statement, parameters)
        _wait(self.connection, ANSWER_SECONDS)
        self.connection.poll()  # takes the notifications that came behind the answer

    def read(self) -> None:
        """The descriptor is readable between two statements.  Raises one of CONNECTION_ERRORS when that is the end."""
        with told_apart():
            self.connection.poll()

    def _connect(self) -> psycopg2.extensions.connection:
        connection = psycopg2.connect(**self._arguments, async_=1)
        wait = partial(_wait, connection, self._arguments["connect_timeout"])  # of which psycopg2 knows nothing here
        wait()
        self._learn_level(connection, wait)
        return connection


class AsyncDatabase(DeadlineDatabase):
    """A DeadlineDatabase of which one statement may be under way; `run` waits for it first.

    It never reconnects on its own: a new session has neither the lock nor the LISTEN of the one before.
    """

    pending: PendingStatement | None = None

    def open(self) -> None:
        """Begin a session, in place of one that may be there.  Raises one of CONNECTION_ERRORS."""
        self.close()
        super().connection  # noqa: B018  opens it

    @property
    def connection(self) -> psycopg2.extensions.connection:
        """The open connection.  Raises one of CONNECTION_ERRORS."""
        if not self.is_open:
            raise psycopg2.InterfaceError("the session has ended")
        return super().connection

    def start(
        self,
        statement: str,
        parameters: Parameters,
        on_rows: Callable[[list[Row]], None],
        on_failure: Callable[[], None],
    ) -> None:
        """Send a statement; `read` meets the answer.  Raises one of CONNECTION_ERRORS, after a call of `on_failure`."""
        with self._lock:
            self.finish()
            cursor = self.connection.cursor()
            self.pending = PendingStatement(cursor, monotonic(), on_rows, on_failure)
            try:
                with told_apart():
                    cursor.execute(self._before + statement, parameters)
            except BaseException:
                self._fail()
                raise

    def read(self) -> None:
        """The descriptor is readable.  Raises one of CONNECTION_ERRORS."""
        with self._lock:
            try:
                with told_apart():
                    state = self.connection.poll()
            except BaseException:
                self._fail()
                raise
            if state == POLL_OK:
                self._receive()

    def finish(self) -> None:
        """Wait for what is under way.  Raises one of CONNECTION_ERRORS."""
        with self._lock:
            if self.pending is None:
                return
            try:
                _wait(self.connection, ANSWER_SECONDS)
            except BaseException:
                self._fail()
                raise
            self._receive()

    def check(self) -> None:
        """Raises one of CONNECTION_ERRORS when the answer to what is under way is overdue."""
        if self.pending is not None and monotonic() - self.pending.since > ANSWER_SECONDS:
            self._fail()
            _give_up(self.connection, ANSWER_SECONDS)

    def run(self, statement: str, parameters: Any = None) -> list[Row]:
        """Run a statement, like Database.run."""
        with self._lock:
            self.finish()
            return super().run(statement, parameters)

    def close(self) -> None:
        """Close the connection, like Database.close."""
        super().close()
        self._fail()

    def _receive(self) -> None:
        pending, self.pending = self.pending, None
        if pending is not None:
            rows = pending.cursor.fetchall() if pending.cursor.description else []
            pending.cursor.close()
            try:
                self.connection.poll()  # as in _execute
            finally:
                pending.on_rows(rows)

    def _fail(self) -> None:
        pending, self.pending = self.pending, None
        if pending is not None:
            pending.on_failure()


def _wait(connection: psycopg2.extensions.connection, seconds: float) -> None:
    deadline, hurries = monotonic() + seconds, False
    with told_apart():
        while (state := connection.poll()) != POLL_OK:
            left = deadline - monotonic()
            if left <= 0:
                _give_up(connection, seconds)
            ears = [connection.fileno()]
            reading, writing = (ears, []) if state == POLL_READ else ([], ears)
            if any(select.select(reading, writing, [], min(left, LOOK_SECONDS))) or hurries:
                continue
            if is_stopping():
                hurries, deadline = True, min(deadline, monotonic() + STOPPING_SECONDS)


def _give_up(connection: psycopg2.extensions.connection, seconds: float) -> NoReturn:
    connection.close()  # should the answer come all the same, it must not be taken for that of another statement
    raise psycopg2.OperationalError(f"no answer for {seconds:g} s")
