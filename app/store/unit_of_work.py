"""The transaction every store function takes first, and the only COMMIT and ROLLBACK of the service."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar
from uuid import UUID

from sqlalchemy import Connection, CursorResult, Engine, TextClause, create_engine
from sqlalchemy.exc import DBAPIError

from app.store.pipeline import Bound, joined

P = ParamSpec("P")
R = TypeVar("R")

VICTIM_CODES = ("40001", "40P01")  # serialization failure, deadlock
VICTIM_RETRIES = 4


class AlreadyQueuedError(Exception):
    """An unfinished job with this unique key is there; job_id: its id."""

    def __init__(self, job_id: UUID) -> None:
        super().__init__(f"already queued as {job_id}")
        self.job_id = job_id


class OvertakenError(Exception):
    """Another transaction has done meanwhile what this one was about: undo it, and look again."""


@dataclass(frozen=True, slots=True)
class JobMessage:
    """One job to be put on a queue.

    kwargs: JSON; unique_key: at most one unfinished message may carry it; step: what it takes of its user's share of
    the queue, in ranks; most_ready: jobs of the user that are handed out at once, None for all.
    """

    job_id: UUID
    task: str
    queue: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    user_id: UUID | None = None
    unique_key: str | None = None
    step: int | None = None
    most_ready: int | None = None


class Publish(Protocol):
    """Puts a message on its queue inside the caller's transaction.  Raises: AlreadyQueuedError."""

    def __call__(self, connection: Connection, message: JobMessage) -> None:
        """Publish."""
        ...


def no_publish(connection: Connection, message: JobMessage) -> None:  # noqa: ARG001 - the protocol's
    """For processes that never enqueue."""
    raise RuntimeError(f"this process may not publish {message.task}")


@dataclass(frozen=True, slots=True)
class Tx:
    """One open transaction.  Passed down, never stored.

    pipelined: writes wait for the next statement and travel with it; a test that steps between statements says False.
    """

    connection: Connection
    publisher: Publish = no_publish
    pipelined: bool = True
    waiting: list[Bound] = field(default_factory=list)

    def run(self, statement: TextClause, **parameters: object) -> CursorResult[Any]:
        """Execute one statement with bound parameters, after the writes that wait for it."""
        if not self.waiting:
            return self.connection.execute(statement, parameters)
        self.waiting.append((statement, parameters))
        sql, bound = joined(self.waiting)
        self.waiting.clear()
        return self.connection.exec_driver_sql(sql, bound)

    def write(self, statement: TextClause, **parameters: object) -> None:
        """Execute a statement whose result nobody reads, with the next one or at the end; its error comes up there."""
        self.waiting.append((statement, parameters))
        if not self.pipelined:
            self.flush()

    def flush(self) -> None:
        """Send the writes that wait."""
        if self.waiting:
            statement, parameters = self.waiting.pop()
            self.run(statement, **parameters)

    def publish(self, message: JobMessage) -> None:
        """Enqueue in this transaction; visible to workers when it commits.  Raises: AlreadyQueuedError."""
        self.flush()
        self.publisher(self.connection, message)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what happens inside when it raises; the transaction goes on."""
        self.flush()
        try:
            with self.connection.begin_nested():
                yield
                self.flush()
        except BaseException:
            self.waiting.clear()  # they were never sent, and what they belong to is undone
            raise


@dataclass(frozen=True, slots=True)
class UnitOfWork:
    """Opens transactions on one engine."""

    engine: Engine
    publisher: Publish = no_publish
    pipelined: bool = True

    @contextmanager
    def begin(self) -> Iterator[Tx]:
        """Commit on a clean exit, roll back on any exception."""
        with self.engine.begin() as connection:
            tx = Tx(connection, self.publisher, self.pipelined)
            yield tx
            tx.flush()


def retried(use_case: Callable[P, R]) -> Callable[P, R]:
    """Run a use case of one transaction again when it was overtaken, or the victim that ends a deadlock.

    Only for use cases whose every effect is in that transaction: the rollback has undone them all.
    """

    @wraps(use_case)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        for attempt in range(VICTIM_RETRIES):
            try:
                return use_case(*args, **kwargs)
            except OvertakenError:
                continue
            except DBAPIError as error:
                if getattr(error.orig, "pgcode", None) not in VICTIM_CODES:
                    raise
                time.sleep(0.01 * 2**attempt * random.random())  # noqa: S311 - jitter, so that the two part
        return use_case(*args, **kwargs)

    return run


def make_engine(url: str, *, pool_size: int = 5, application_name: str = "fairlane") -> Engine:
    """An engine that survives a restarted PostgreSQL (pre-ping) and gives up on locks rather than hang."""
    return create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=10,
        pool_pre_ping=True,
        hide_parameters=True,  # an error of SQLAlchemy would print them, token hashes among them
        connect_args={
            "application_name": application_name,
            "connect_timeout": 5,
            # a server that vanished without a word must not hold a worker or a web thread for TCP's own two hours
            "keepalives_idle": 10,
            "keepalives_interval": 3,
            "keepalives_count": 3,
            "tcp_user_timeout": 15_000,
            # a client that stops mid-transaction is cut off before those who wait for its user's row give up: or every
            # process that meets a job of this user would stand still as well (docs/broker-hazards.md H4)
            "options": "-c lock_timeout=10s -c idle_in_transaction_session_timeout=5s -c timezone=UTC",
        },
    )
