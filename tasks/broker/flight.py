"""A connection that need not be waited for: an event loop goes on while the server claims and commits."""

import select
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import psycopg2
from psycopg2.extensions import POLL_OK, POLL_READ

from .database import Database, Parameters, Row, told_apart


class Flight(NamedTuple):
    """A statement under way.  landed: takes its rows; crashed: the connection broke before the answer."""

    cursor: Any
    landed: Callable[[list[Row]], None]
    crashed: Callable[[], None]


class FlyingDatabase(Database):
    """As Database.  One statement may be under way; `run` waits for it first."""

    flight: Flight | None = None

    def __init__(self, url: str, *, connect_timeout: float | None = 5) -> None:
        super().__init__(url, connect_timeout=connect_timeout)
        self._lock = threading.RLock()  # here psycopg2 does not let threads take turns

    def start(
        self, statement: str, parameters: Parameters, landed: Callable[[list[Row]], None], crashed: Callable[[], None]
    ) -> None:
        """Send a statement; `read` meets the answer.  Raises one of CONNECTION_ERRORS, after a call of `crashed`."""
        with self._lock:
            self.finish()
            cursor = self.connection.cursor()
            self.flight = Flight(cursor, landed, crashed)
            try:
                with told_apart():
                    cursor.execute(statement, parameters)
            except BaseException:
                self._crash()
                raise

    def read(self) -> None:
        """The descriptor is readable.  Raises one of CONNECTION_ERRORS."""
        with self._lock:
            try:
                with told_apart():
                    state = self.connection.poll()
            except BaseException:
                self._crash()
                raise
            if state == POLL_OK:
                self._land()

    def finish(self) -> None:
        """Wait for what is under way.  Raises one of CONNECTION_ERRORS."""
        with self._lock:
            if self.flight is None:
                return
            try:
                _wait(self.connection)
            except BaseException:
                self._crash()
                raise
            self._land()

    def run(self, statement: str, parameters: Any = None) -> list[Row]:
        """As Database.run."""
        with self._lock:
            self.finish()
            return super().run(statement, parameters)

    def _execute(self, cursor: Any, statement: str, parameters: Any) -> None:
        cursor.execute(statement, parameters)
        _wait(self.connection)
        self.connection.poll()  # takes the notifications that came behind the answer

    def close(self) -> None:
        """As Database.close."""
        super().close()
        self._crash()

    def _connect(self) -> psycopg2.extensions.connection:
        connection = psycopg2.connect(**self._arguments, async_=1)
        _wait(connection)
        return connection

    def _land(self) -> None:
        flight, self.flight = self.flight, None
        if flight is not None:
            rows = flight.cursor.fetchall() if flight.cursor.description else []
            flight.cursor.close()
            try:
                self.connection.poll()  # as in _execute
            finally:
                flight.landed(rows)

    def _crash(self) -> None:
        flight, self.flight = self.flight, None
        if flight is not None:
            flight.crashed()


def _wait(connection: psycopg2.extensions.connection) -> None:
    with told_apart():
        while (state := connection.poll()) != POLL_OK:
            descriptors = [connection.fileno()]
            select.select(descriptors if state == POLL_READ else [], [] if state == POLL_READ else descriptors, [])
