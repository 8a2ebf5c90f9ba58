"""One connection to PostgreSQL: autocommit, opened on first use, never shared with a forked child."""

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import psycopg2
import psycopg2.errors

from .addresses import reveal
from .broker_url import parse

Parameters = Mapping[str, Any] | tuple[Any, ...]
Row = tuple[Any, ...]
#: (statement, parameters) -> rows
Run = Callable[[str, Parameters], list[Row]]

#: What stands before the `://` of a broker URL, after `durable+`.
DRIVERS = ("durable", "postgresql", "postgres", "postgresql+psycopg2")

#: What psycopg2 raises when the session is gone; a query that was cancelled is among them and is retried alike.
CONNECTION_ERRORS: tuple[type[Exception], ...] = (psycopg2.OperationalError, psycopg2.InterfaceError, ConnectionError)
#: What a node outlives: a refusal, of a table that is just being replaced for one, may be over in a moment as well.
SERVER_ERRORS: tuple[type[Exception], ...] = (*CONNECTION_ERRORS, psycopg2.Error)
#: What a database without the tables says, or one whose tables are older than this package.
UNDEFINED = (
    psycopg2.errors.UndefinedTable,
    psycopg2.errors.UndefinedColumn,
    psycopg2.errors.UndefinedFunction,
    psycopg2.errors.InvalidSchemaName,
)
#: Codes of errors with which a session ends: of the connection, by an administrator, after a time.
ENDS = ("08", "57P", "25P03", "25P04")


def is_refusal(error: Exception) -> bool:
    """Whether the server refused a statement, and the session continues.  A broken socket has no code."""
    code = getattr(error, "pgcode", None)
    return code is not None and not code.startswith(ENDS)


#: In front of each statement, where the database's or the role's default is another level.  It is no setting of the
#: session: a pooler would hand that on to the next client.
_READ_COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;"
_DEFAULT_LEVEL = "SELECT current_setting('default_transaction_isolation')"


@contextmanager
def told_apart() -> Iterator[None]:
    """At some moments psycopg2 tells the end of a session by a bare DatabaseError: make an OperationalError of it.

    Every kind of refusal has a class of its own below that one.  A retry that met it was given up, and a timer too.
    """
    try:
        yield
    except psycopg2.DatabaseError as error:
        if type(error) is psycopg2.DatabaseError:
            raise psycopg2.OperationalError(str(error)) from error
        raise


_open: "WeakSet[Database]" = WeakSet()


class Database:
    """A lazily opened connection.  `run` may be called from several threads: they take turns.

    Its transactions are READ COMMITTED, whatever the database's default is: the statements here skip locked rows and
    look again, and no caller could try again a transaction that failed to serialize.
    """

    def __init__(self, url: str, *, connect_timeout: float | None = 5) -> None:
        self._arguments = connect_arguments(reveal(url), connect_timeout)
        self._connection: psycopg2.extensions.connection | None = None
        self._before = ""
        self._lock = threading.RLock()
        self._is_pinned = False
        self._cursor: Any = None

    @property
    def connection(self) -> psycopg2.extensions.connection:
        """The open connection.  Raises one of CONNECTION_ERRORS."""
        if self._connection is None or self._connection.closed:
            if self._is_pinned:
                raise psycopg2.InterfaceError("the session has ended in a transaction")
            self._connection = self._connect()
            _open.add(self)
        return self._connection

    def _connect(self) -> psycopg2.extensions.connection:
        connection = psycopg2.connect(**self._arguments)
        connection.autocommit = True
        self._learn_level(connection)
        return connection

    def _learn_level(self, connection: psycopg2.extensions.connection, wait: Callable[[], None] = lambda: None) -> None:
        """Ask for the default level of the database.  wait: for the answer."""
        with told_apart(), connection.cursor() as cursor:
            cursor.execute(_DEFAULT_LEVEL)
            wait()
            [(level,)] = cursor.fetchall()
        self._before = "" if level in {"read committed", "read uncommitted"} else _READ_COMMITTED

    @property
    def is_open(self) -> bool:
        """Whether the session is open, as far as is known here."""
        return self._connection is not None and not self._connection.closed

    @property
    def backend(self) -> int:
        """The process of the server that serves the session.  Raises one of CONNECTION_ERRORS."""
        return int(self.connection.info.backend_pid)

    def run(self, statement: str, parameters: Parameters | Sequence[Any] | None = None) -> list[Row]:
        """Execute one round trip, a transaction of its own; the rows of its last statement, [] if it has none.

        A broken connection is dropped, so that the next call opens a new one.  Raises one of CONNECTION_ERRORS.
        """
        with self._lock:
            connection = self.connection
            cursor = self._kept_cursor(connection)
            try:
                self._execute(cursor, self._before + statement, parameters)
                return cursor.fetchall() if cursor.description else []
            except SERVER_ERRORS as error:
                if connection.closed:
                    self.close()
                if type(error) is psycopg2.DatabaseError:  # as in told_apart, whose generator takes 15 µs
                    raise psycopg2.OperationalError(str(error)) from error
                raise

    def _kept_cursor(self, connection: psycopg2.extensions.connection) -> Any:
        """One cursor for the whole session: a new one for each statement takes 14 µs of a publish."""
        if self._cursor is None or self._cursor.connection is not connection:
            self._cursor = connection.cursor()
        return self._cursor

    def _execute(self, cursor: Any, statement: str, parameters: Any) -> None:
        cursor.execute(statement, parameters)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run what this thread runs in the block in one transaction; other threads wait.

        Raises one of CONNECTION_ERRORS.
        """
        with self._lock:
            connection = self.connection
            before, self._before, self._is_pinned = self._before, "", True
            try:
                self.run("BEGIN ISOLATION LEVEL READ COMMITTED")
                yield
                self.run("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            finally:
                self._is_pinned = False
                if self._connection is connection:
                    self._before = before

    def _roll_back(self) -> None:
        try:
            self.run("ROLLBACK")
        except SERVER_ERRORS:
            self.close()

    def close(self) -> None:
        """End the session; the next `run` begins another."""
        connection, self._connection, self._cursor = self._connection, None, None
        if connection is not None:
            with suppress(*CONNECTION_ERRORS):
                connection.close()

    def abandon(self) -> None:
        """In a forked child: let go of the parent's session without a word on its socket.

        The descriptor must be closed here: a child that outlives its parent would otherwise keep the parent's session,
        and with it the lock that tells the other nodes it lives.
        """
        connection, self._connection, self._cursor = self._connection, None, None
        self._lock, self._is_pinned = threading.RLock(), False  # a thread that is not here may have held it
        if connection is not None and not connection.closed:
            with suppress(OSError, psycopg2.Error):
                os.close(connection.fileno())


def direct(url: str, direct_url: str | None) -> str:
    """Where a node's session goes, with its password.  What `direct_url` leaves out of user and password is `url`'s."""
    if direct_url is None:
        return reveal(url)
    other, given = parse(reveal(direct_url)), parse(reveal(url)).words
    if "user" not in other.words:
        other = other.replaced(user=given.get("user"))
    if "password" not in other.words and other.words.get("user") == given.get("user"):
        other = other.replaced(password=given.get("password"))
    return other.render()


@lru_cache(maxsize=16)
def connect_arguments(url: str, connect_timeout: float | None = 5) -> dict[str, Any]:
    """What psycopg2.connect takes for a URL; its query is kept.

    connect_timeout: seconds, unless the URL has another one.  Raises ValueError for another database or driver, and for
    a connect_timeout that is no number.
    """
    driver, given = parse(url)
    if driver not in DRIVERS:
        raise ValueError(f"the durable transport needs postgresql+psycopg2, not {driver}")
    # A peer that vanished without a word must not hold the event loop for the two hours of TCP's own patience.
    patience = {"keepalives_idle": 10, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 15_000}
    return {
        "application_name": "durable-broker",
        **patience,
        **given,
        "connect_timeout": max(2, _seconds(given.get("connect_timeout")) or round(connect_timeout or 5)),
    }


def _seconds(written: str | None) -> int:
    """The connect_timeout of a URL; 0 for none.  Raises ValueError."""
    if written is None:
        return 0
    if not re.fullmatch(r"\d{1,6}", written):
        raise ValueError(f"connect_timeout is {written!r} in the URL of the broker; expected a whole number of seconds")
    return int(written)


def runner(connection: Any) -> Run:
    """Runs statements in the transaction of a SQLAlchemy Connection or Session, or of a psycopg2 connection."""
    if hasattr(connection, "cursor"):
        return _dbapi_runner(connection)
    # A Session has the connection of its transaction; both begin by themselves at the first statement.
    execute = (connection if hasattr(connection, "exec_driver_sql") else connection.connection()).exec_driver_sql

    def run(statement: str, parameters: Parameters) -> list[Row]:
        result = execute(statement, parameters if isinstance(parameters, tuple) else dict(parameters))
        return [tuple(row) for row in result] if result.returns_rows else []

    return run


def _dbapi_runner(connection: Any) -> Run:
    def run(statement: str, parameters: Parameters) -> list[Row]:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    return run


def _abandon_all() -> None:
    for database in list(_open):
        database.abandon()


os.register_at_fork(after_in_child=_abandon_all)
