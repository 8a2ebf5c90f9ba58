"""The transaction that every store function takes first, and the only COMMIT and ROLLBACK of the service."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar
from uuid import UUID

from sqlalchemy import Engine, TextClause, text
from sqlalchemy.exc import DBAPIError

from app import log_writer
from app.store.core.clock import clock_of
from app.store.core.replica import Replica
from app.store.core.session import Rows, Session, session

P = ParamSpec("P")
R = TypeVar("R")

#: In the order of their ids, so that no two transactions wait for each other.  Rows that refer to a user may be
#: inserted meanwhile: they share its key, which only a deletion changes.
LOCK_USERS = text("SELECT 1 FROM users WHERE id = ANY(CAST(:user_ids AS uuid[])) ORDER BY id FOR NO KEY UPDATE")
_RELAX = text("SET LOCAL synchronous_commit = off")
_STAY_OPEN = text("SET LOCAL idle_in_transaction_session_timeout = '60s'")
VICTIM_CODES = ("40001", "40P01")  # serialization failure, deadlock
VICTIM_RETRIES = 4
UNKNOWN_OBJECT = "42704"
# For a repository that was not requested for months, and that was pruned since this transaction looked it up.
PRUNED = "analysis_requests_codebase_id_fkey"


class AlreadyQueuedError(Exception):
    """An unfinished job has this unique key.  job_id: its id."""

    def __init__(self, job_id: UUID) -> None:
        super().__init__(f"already queued as {job_id}")
        self.job_id = job_id


class OvertakenError(Exception):
    """Another transaction has meanwhile done this one's work: undo this one, and look again."""


class BehindError(OvertakenError):
    """Users' rows are locked in the order of their ids, and a later one is locked already: begin again with all."""

    def __init__(self, user_ids: Iterable[UUID]) -> None:
        super().__init__("a users row is held by somebody else")
        self.user_ids = frozenset(user_ids)


@dataclass(frozen=True, slots=True)
class JobMessage:
    """One job to be put on a queue.

    kwargs: JSON; unique_key: of which there may be one unfinished message; step: how far it moves its user back in the
    queue, in ranks; most_ready: jobs of the user that are ready at once, None for all; delay: until it is ready.
    """

    job_id: UUID
    task: str
    queue: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    user_id: UUID | None = None
    unique_key: str | None = None
    step: int | None = None
    most_ready: int | None = None
    delay: timedelta = timedelta(0)


class Publish(Protocol):
    """Puts messages on their queues, one after the other, inside the caller's transaction.

    Raises: AlreadyQueuedError.
    """

    def __call__(self, connection: Session, messages: Sequence[JobMessage]) -> None:
        """Publish."""
        ...


class Register(Protocol):
    """Lets one account have an e-mail address, where a service has several databases with accounts (docs/adr/0096)."""

    def __call__(self, user_id: UUID, email: str) -> bool:
        """Register an account that the open transaction makes; False if another one has the address."""
        ...


def no_register(user_id: UUID, email: str) -> bool:  # noqa: ARG001 - the protocol's
    """Register nothing: the one database has a unique index."""
    return True


class Unregister(Protocol):
    """Takes back what `Register` has noted."""

    def __call__(self, user_id: UUID) -> None:
        """Forget an account that has been deleted; a failure is only logged."""
        ...


def no_unregister(user_id: UUID) -> None:
    """Forget nothing: nothing was registered."""


class RefuseMoving(Protocol):
    """Refuses a deletion while the account moves between databases (docs/adr/0097)."""

    def __call__(self, user_id: UUID) -> None:
        """Refuse it, under the lock on the users row.  Raises: Busy."""
        ...


def no_move(user_id: UUID) -> None:
    """Refuse nothing: nobody moves out of the one database."""


def no_publish(connection: Session, messages: Sequence[JobMessage]) -> None:  # noqa: ARG001 - the protocol's
    """Refuse to publish, in processes that never enqueue."""
    raise RuntimeError(f"this process may not publish {[message.task for message in messages]}")


@dataclass(frozen=True, slots=True)
class Tx:
    """One open transaction.  Passed down, never stored.  lines: to be written to the log when it has committed."""

    connection: Session
    publisher: Publish = no_publish
    register: Register = no_register
    lines: list[tuple[float, str, dict[str, object]]] = field(default_factory=list)

    def run(self, statement: TextClause, **parameters: object) -> Rows:
        """Execute one statement with bound parameters, after the waiting writes."""
        return self.connection.execute(statement, parameters)

    def write(self, statement: TextClause, **parameters: object) -> None:
        """Execute a statement whose result is not read, with the next one or at the end, where its error is raised."""
        self.connection.write(statement, parameters)

    def write_each(self, statement: TextClause, rows: Sequence[Mapping[str, object]]) -> None:
        """Write many rows by one `INSERT … VALUES (…)`, whose statement is that of one row."""
        if rows:
            self.connection.write_each(statement, rows)

    def relax(self) -> None:
        """Let the commit return before it is on disk: a crash of the server may undo it, but nothing after it.

        This is for steps that can simply be repeated, and whose result was promised to nobody.
        """
        self.write(_RELAX)

    def stay_open(self) -> None:
        """Let up to a minute pass between two statements, for what else has to be done before the commit.

        Nobody may wait for a lock of such a transaction but whoever waits for the same work.
        """
        self.write(_STAY_OPEN)

    def flush(self) -> None:
        """Send the waiting writes."""
        self.connection.flush()

    def publish(self, *messages: JobMessage) -> None:
        """Enqueue in this transaction; visible to workers when it commits.  Raises: AlreadyQueuedError."""
        self.publisher(self.connection, messages)

    def log(self, event: str, **facts: object) -> None:
        """Write a line to the log once this transaction has committed; none if it is undone.

        It has the time of now, so that it is before those of a worker that sees the commit first.
        """
        self.lines.append((time.time(), event, facts))

    def savepoint(self) -> AbstractContextManager[None]:
        """Undo the statements inside if an exception is raised; the transaction continues."""
        return self.connection.savepoint()


@dataclass(frozen=True, slots=True)
class UnitOfWork:
    """Opens transactions on one engine.

    pipelined: writes wait for the next statement and travel with it; tests that pause between statements pass
    `pipelined=False`.
    first: users whose rows each transaction locks at its beginning, because another attempt found them locked.
    replica: where reads may be sent instead (reading.py).
    few: what each transaction of `begin` waits for, where more threads than connections use it.
    """

    engine: Engine
    publisher: Publish = no_publish
    pipelined: bool = True
    first: frozenset[UUID] = frozenset()
    register: Register = no_register
    unregister: Unregister = no_unregister
    refuse_moving: RefuseMoving = no_move
    replica: Replica | None = None
    few: AbstractContextManager[object] = nullcontext()  # noqa: RUF009 - it has no state

    @contextmanager
    def begin(self) -> Iterator[Tx]:
        """Commit on a clean exit, roll back on any exception."""
        with self.few, session(self.engine, pipelined=self.pipelined) as connection:
            connection.begin()
            tx = Tx(connection, self.publisher, self.register)
            if self.first:
                tx.write(LOCK_USERS, user_ids=sorted(map(str, self.first)))
            yield tx
            connection.commit()
        for at, event, facts in tx.lines:
            log_writer.write(__name__, event, facts, at)

    @contextmanager
    def prepared(self, name: str) -> Iterator[Tx]:
        """Like `begin`, but a clean exit only prepares the transaction, which keeps its locks until `end_prepared`.

        name: letters, digits and hyphens.  The server keeps it over restarts, whatever becomes of this process.
        """
        with session(self.engine, pipelined=self.pipelined) as connection:
            connection.begin()
            yield Tx(connection, self.publisher)
            connection.exec_driver_sql(f"PREPARE TRANSACTION '{name}'")

    def end_prepared(self, name: str, *, commits: bool) -> None:
        """Commit or undo a prepared transaction; nothing happens if there is none of this name."""
        with session(self.engine, pipelined=self.pipelined) as connection:
            try:
                connection.exec_driver_sql(f"{'COMMIT' if commits else 'ROLLBACK'} PREPARED '{name}'")
            except DBAPIError as error:
                if getattr(error.orig, "pgcode", None) != UNKNOWN_OBJECT:
                    raise

    def now(self) -> datetime:
        """The database's time, for code that is not decided by a statement of its own (app/store/core/clock.py)."""
        return clock_of(self.engine).now()

    @contextmanager
    def once(self) -> Iterator[Tx]:
        """Allow one `run`, which the server begins and commits by itself.  Raises: RuntimeError at a second one."""
        with session(self.engine, pipelined=self.pipelined, once=True) as connection:
            yield Tx(connection, self.publisher, self.register)


def retried(use_case: Callable[P, R]) -> Callable[P, R]:
    """Run a use case of one transaction again if it was overtaken, or was the victim of a deadlock.

    Only for use cases whose every effect is in that transaction, because the rollback undoes them all.
    """

    @wraps(use_case)
    def behind(*args: P.args, **kwargs: P.kwargs) -> R:
        while True:
            try:
                return use_case(*args, **kwargs)
            except BehindError as error:
                uow, *rest = args
                # each attempt knows one more user
                if not isinstance(uow, UnitOfWork) or error.user_ids <= uow.first:
                    raise
                args = (replace(uow, first=uow.first | error.user_ids), *rest)  # type: ignore[assignment]

    @wraps(use_case)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        for attempt in range(VICTIM_RETRIES):
            try:
                return behind(*args, **kwargs)
            except OvertakenError:
                continue
            except DBAPIError as error:
                if not _is_passing(error.orig):
                    raise
                time.sleep(0.01 * 2**attempt * random.random())  # noqa: S311 - jitter, so that the two part
        return behind(*args, **kwargs)

    return run


def _is_passing(error: BaseException | None) -> bool:
    diagnosis = getattr(error, "diag", None)
    return getattr(error, "pgcode", None) in VICTIM_CODES or getattr(diagnosis, "constraint_name", None) == PRUNED
