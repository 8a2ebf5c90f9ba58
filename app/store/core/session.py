"""A pool connection during a transaction: the statements that wait to be sent, and the results.

psycopg2 sends a string of several statements as one message, and each sees what was committed before it began, as if
they had been sent one by one.  A round trip on one machine takes a tenth of a millisecond, a third of a short
statement.  So psycopg2 is in autocommit, and BEGIN and COMMIT are statements that travel with the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import Any, TypeVar, cast

import psycopg2
from psycopg2.extensions import TRANSACTION_STATUS_IDLE, encodings
from sqlalchemy import Engine, PoolProxiedConnection, TextClause, text
from sqlalchemy.dialects.postgresql.psycopg2 import PGDialect_psycopg2
from sqlalchemy.engine import IteratorResult
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.exc import DBAPIError

from app.store.core.connections import to_set
from app.store.core.deadlines import WatchedConnection

T = TypeVar("T")
#: A statement in psycopg2's form, with its parameters.
Bound = tuple[str, Mapping[str, Any]]

_BEGIN: Bound = ("BEGIN", {})
_DIALECT = PGDialect_psycopg2(dbapi=psycopg2)  # type: ignore[no-untyped-call]  # SQLAlchemy's dialects have no types


class Rows(IteratorResult[Any]):
    """The whole result of a statement.

    rowcount: rows that it found or changed; returns_rows: whether it may return rows.
    """

    def __init__(self, cursor: Any) -> None:
        found = cursor.description
        self.returns_rows = found is not None
        self.rowcount: int = cursor.rowcount
        self._names = tuple([column[0] for column in found]) if found else ()
        self._fetched: list[tuple[Any, ...]] = cursor.fetchall() if found else []
        super().__init__(_metadata(self._names), iter(self._fetched))

    def values(self, kind: type[T]) -> list[T]:
        """All rows.  kind: a dataclass or NamedTuple whose fields are the statement's columns in their order.

        Raises: TypeError if they are not.
        """
        fields = kind.__match_args__  # type: ignore[attr-defined]  # both kinds have it
        if fields != self._names:
            raise TypeError(f"{kind.__name__} has {fields}, and the statement {self._names}")
        return [kind(*row) for row in self._fetched]

    def value(self, kind: type[T]) -> T:
        """The only row, like `values`.  Raises: ValueError if there is another number of rows."""
        [found] = self.values(kind)
        return found

    def value_or_none(self, kind: type[T]) -> T | None:
        """The only row, like `values`; None if there is none.  Raises: ValueError if there are several."""
        return self.value(kind) if self._fetched else None


class Session:
    """The session of one transaction.  Its errors are SQLAlchemy's.

    pipelined: a statement whose result is not read waits for the next one, and BEGIN for the first; once: it sends one
    message, and no BEGIN.
    """

    def __init__(self, pooled: PoolProxiedConnection, *, pipelined: bool = True, once: bool = False) -> None:
        self._pooled, self._connection, self._pipelined = pooled, _driven(pooled), pipelined
        self._waiting: list[Bound] = []
        self._once, self._is_over = once, False
        limits = to_set(pooled)
        self._begin: Bound = (f"BEGIN; {limits}", {}) if limits else _BEGIN
        if once and limits:  # one message is one transaction
            self._waiting.append((limits, {}))
        self._connection.autocommit = True

    def execute(self, statement: TextClause, parameters: Mapping[str, Any] | None = None) -> Rows:
        """Send the waiting statements and this one."""
        return self.exec_driver_sql(_compiled(statement.text), parameters)

    def write(self, statement: TextClause, parameters: Mapping[str, Any]) -> None:
        """Keep a statement whose result is not read, and send it with the next one."""
        self._wait(_compiled(statement.text), parameters)

    def write_each(self, statement: TextClause, rows: Sequence[Mapping[str, Any]]) -> None:
        """Send an INSERT of one row with the next statement, with as many rows as are given."""
        if len(rows) == 1:  # an accept: spares it a cursor
            self._wait(_compiled(statement.text), rows[0])
            return
        head, values, rest = _compiled(statement.text).partition("VALUES")
        row, conflict, tail = rest.partition("ON CONFLICT")
        with self._connection.cursor() as cursor:
            said = b", ".join([cursor.mogrify(row, given) for given in rows]).decode(self._encoding)
        self._wait(f"{head}{values}{said.replace('%', '%%')}{conflict}{tail}", {})

    @property
    def _encoding(self) -> str:
        return str(encodings[self._connection.encoding])

    def exec_driver_sql(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Rows:
        """Send the waiting statements and this one, which is in psycopg2's form."""
        self._waiting.append((statement, parameters or {}))
        return self._send()

    def flush(self) -> None:
        """Send the waiting statements, unless there is only a BEGIN."""
        if self._waiting not in ([], [self._begin]):
            self._send()

    def fetching(self) -> AbstractContextManager[None]:
        """Let statements in the block take their time, where the server has to answer soon (deadlines.py)."""
        return self._connection.fetching() if isinstance(self._connection, WatchedConnection) else nullcontext()

    def begin(self) -> None:
        """Begin a transaction."""
        self._wait(*self._begin)

    def commit(self) -> None:
        """Commit the transaction; if nothing was sent, it never began."""
        if self._waiting != [self._begin]:
            is_watched = isinstance(self._connection, WatchedConnection)
            with self._connection.committing() if is_watched else nullcontext():
                self.exec_driver_sql("COMMIT")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo the statements inside if an exception is raised; the transaction continues."""
        self.exec_driver_sql("SAVEPOINT inner_part")
        try:
            yield
            self.exec_driver_sql("RELEASE inner_part")
        except BaseException:
            self._waiting.clear()  # they were never sent, and what they belong to is undone
            if not self._connection.closed:
                self.exec_driver_sql("ROLLBACK TO inner_part")
                self.exec_driver_sql("RELEASE inner_part")
            raise

    def _wait(self, statement: str, parameters: Mapping[str, Any]) -> None:
        self._waiting.append((statement, parameters))
        if not self._pipelined:
            self._send()

    def _send(self) -> Rows:
        if self._is_over:
            raise RuntimeError("nothing more may be sent: it would be in no transaction, or in a second one")
        self._is_over = self._once
        batch, self._waiting = self._waiting, []
        with self._connection.cursor() as cursor:
            try:
                if len(batch) == 1:
                    cursor.execute(*batch[0])
                else:
                    cursor.execute(b";\n".join([cursor.mogrify(*bound) for bound in batch]))
                return Rows(cursor)
            except psycopg2.Error as error:
                # without the parameters, which may be token hashes
                wrapped = _wrapped(error, self._connection, ";\n".join(statement for statement, _ in batch))
                if wrapped.connection_invalidated:
                    self._pooled.invalidate(error)
                raise wrapped from error
            finally:
                # a BEGIN in a message with a syntax error has no effect, and the rest must not run without it
                if self._connection.info.transaction_status == TRANSACTION_STATUS_IDLE:
                    self._is_over = True


@contextmanager
def session(engine: Engine, *, pipelined: bool = True, once: bool = False) -> Iterator[Session]:
    """A connection of the pool, which takes it back however this ends (app/store/core/connections.py)."""
    try:
        pooled = engine.raw_connection()
    except psycopg2.Error as error:
        raise _wrapped(error, None, None) from error
    try:
        yield Session(pooled, pipelined=pipelined, once=once)
    finally:
        pooled.close()


def _driven(pooled: PoolProxiedConnection) -> Any:
    connection = pooled.driver_connection
    if connection is None:
        raise RuntimeError("the pool gave a connection that it has given up")
    return connection


def _wrapped(error: psycopg2.Error, connection: Any, statement: str | None) -> DBAPIError:
    lost = _DIALECT.is_disconnect(error, connection, None)  # type: ignore[no-untyped-call]
    wrapped = DBAPIError.instance(
        statement, None, error, psycopg2.Error, hide_parameters=True, connection_invalidated=lost, dialect=_DIALECT
    )
    return cast(DBAPIError, wrapped)  # the exception that it raises for a driver error


@lru_cache(maxsize=1024)
def _compiled(words: str) -> str:
    """A statement in psycopg2's form, kept by its words: one that is made for each call is another object each time."""
    return str(text(words).compile(dialect=_DIALECT))


@lru_cache(maxsize=1024)
def _metadata(names: tuple[str, ...]) -> SimpleResultMetaData:
    return SimpleResultMetaData(names)
