"""Connections of a pool.

It neither hands out a connection that the server has closed, nor one that is old, nor takes one back in a transaction.

Each transaction has the limits below.  A PostgreSQL session gets them when it begins.  A transaction pooler refuses or
drops the settings of a session; there, every transaction begins with them.
"""

from __future__ import annotations

import random
import select
import time
from collections.abc import Mapping
from functools import partial
from threading import Lock, local
from typing import Any, cast

import psycopg2
from psycopg2.extensions import TRANSACTION_STATUS_IDLE
from sqlalchemy import Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DisconnectionError, InvalidatePoolError
from sqlalchemy.pool import QueuePool

from app import process_metrics
from app.store.core.deadlines import watched

#: As the server prints them.  A client that stops in the middle of a transaction is cut off before the transactions
#: that wait for its user's row give up; otherwise every process that gets a job of this user would also stand still
#: (docs/broker-hazards.md H4).
LIMITS = {"lock_timeout": "10s", "idle_in_transaction_session_timeout": "5s", "TimeZone": "UTC"}
_TO_SET = "fairlane_to_set"
#: id of an engine -> its connections in use: a process that sends requests to several cells has one for each.
_IN_USE = dict[int, int]()
#: How long a session lives, half more or less, so that not all end at once.  A session keeps the plan of each statement
#: that it has met and a description of each table: 1.5 MB when new, up to 10 MB later, and still more after an hour
#: (docs/measurements.md, A soak).
SESSION_SECONDS = 600.0
RENEWED_AT = "fairlane_renewed_at"  # by time.monotonic()
#: An old session goes on for so long when the server begins no other.
REFUSED_SECONDS = 60.0
#: If a server vanished silently, a worker or a web thread must not wait for TCP's own two hours.
_PATIENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
#: Of a replica, whose place the primary takes.
_PATIENCE_WITH_REPLICA = _PATIENCE | {"connect_timeout": 2, "keepalives_idle": 2, "tcp_user_timeout": 4_000}


def make_engine(
    url: str,
    *,
    pool_size: int = 5,
    overflow: int | None = None,
    application_name: str = "fairlane",
    statement_seconds: float = 0,
    is_replica: bool = False,
    has_to_answer: bool = False,
) -> Engine:
    """An engine that survives a restart of PostgreSQL, and gives up waiting for locks rather than hang.

    url: may have parameters of libpq, which hold; overflow: connections beyond the pool's size, which are closed after
    use; None: as many again; statement_seconds: time limit of a statement, 0 for none; is_replica: the primary can
    answer instead; has_to_answer: a server that says nothing for longer than that limit is given up, as others wait for
    the thread.

    Raises: ValueError for a replica, or a server that has to answer, without a time limit of a statement.
    """
    patience = _PATIENCE_WITH_REPLICA if is_replica else _PATIENCE
    watches = is_replica or has_to_answer
    limits = LIMITS | {"statement_timeout": f"{statement_seconds * 1000:.0f}ms"}
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size if overflow is None else overflow,
        pool_timeout=0.5 if is_replica else 10,
        pool_use_lifo=True,  # recently used sessions have their plans and catalogues in memory
        use_native_hstore=not watches,  # SQLAlchemy asks for the type, which we do not use, without our cursor
        hide_parameters=True,  # an SQLAlchemy error would print the parameters, among them token hashes
        connect_args={
            "application_name": application_name,
            # arguments would overrule the URL
            **{name: value for name, value in patience.items() if name not in make_url(url).query},
            "options": " ".join(f"-c {name}={value}" for name, value in limits.items()),
            **({"connection_factory": watched(statement_seconds, is_replica=is_replica)} if watches else {}),
        },
    )
    # below the event do_connect, which is meant for users of the engine
    engine.dialect.connect = connecting = _Connecting(engine.dialect.connect)  # type: ignore[method-assign]
    event.listen(engine, "connect", partial(_look, limits))
    event.listen(engine, "connect", _set_life)
    event.listen(engine, "checkout", _refuse_closed)
    event.listen(engine, "checkout", partial(_refuse_old, connecting))
    event.listen(engine, "reset", _end_transaction)
    if not is_replica:
        _count(engine)
    return engine


def _count(engine: Engine) -> None:
    """Count connections in use; set rather than counted up and down, as a closed one is given back twice."""
    pool = cast(QueuePool, engine.pool)
    _IN_USE[id(engine)] = 0

    def note(*, given_back: int) -> None:
        _IN_USE[id(engine)] = pool.checkedout() - given_back
        process_metrics.pool_in_use.set(sum(_IN_USE.values()))

    event.listen(engine, "checkout", lambda *_: note(given_back=0))
    event.listen(engine, "checkin", lambda *_: note(given_back=1))


def to_set(pooled: PoolProxiedConnection) -> str | None:
    """The statements with which each transaction has to begin if the session does not have the limits."""
    return pooled.info.get(_TO_SET)


class _Connecting:
    """Connects without the options that the pooler has refused once; `prepare` does it in advance."""

    def __init__(self, connect: Any) -> None:
        self._connect, self._refused = connect, False
        self._last: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
        self._preparing, self._prepared = Lock(), local()

    def __call__(self, *arguments: Any, **given: Any) -> Any:
        self._last = arguments, given
        prepared, self._prepared.one = getattr(self._prepared, "one", None), None
        return prepared or self._open(*arguments, **given)

    def prepare(self) -> bool | None:
        """Open what this thread asks for next; False if the server refuses, None if another thread is at it."""
        if not self._preparing.acquire(blocking=False):
            return None
        try:
            self._prepared.one = self._open(*self._last[0], **self._last[1])
        except psycopg2.Error:
            return False
        finally:
            self._preparing.release()
        return True

    def _open(self, *arguments: Any, **given: Any) -> Any:
        if not self._refused:
            try:
                return self._connect(*arguments, **given)
            except psycopg2.OperationalError as error:
                if "startup parameter" not in str(error):
                    raise
                self._refused = True
        return self._connect(*arguments, **{name: value for name, value in given.items() if name != "options"})


def _look(limits: Mapping[str, str], connection: Any, record: Any) -> None:
    """Check whether the limits are in force.  A pooler that is configured to ignore them does so silently."""
    connection.autocommit = True
    with connection.cursor() as cursor:
        checks = (f"current_setting('{name}') = '{value}'" for name, value in LIMITS.items())
        cursor.execute("SELECT " + " AND ".join(checks))
        if not cursor.fetchone()[0]:
            record.info[_TO_SET] = "; ".join(f"SET LOCAL {name} = '{value}'" for name, value in limits.items())
    connection.autocommit = False


def _refuse_closed(connection: Any, _record: Any, _pooled: Any) -> None:
    """Check that an idle server is silent.  One that sends something is ending the session; a killed one closed it.

    Checking the socket costs a system call, while a query costs a round trip.  Raises: InvalidatePoolError.
    """
    try:
        idle = select.poll()
        idle.register(connection.fileno(), select.POLLIN)
        closed = bool(idle.poll(0))
    except psycopg2.InterfaceError:  # we have closed it
        closed = True
    if closed:
        raise InvalidatePoolError


def _set_life(_connection: Any, record: Any) -> None:
    record.info[RENEWED_AT] = time.monotonic() + SESSION_SECONDS * random.uniform(0.5, 1.5)  # noqa: S311


def _refuse_old(connecting: _Connecting, _connection: Any, record: Any, _pooled: Any) -> None:
    """Have the pool close an old session, once another is open to take its place.  Raises: DisconnectionError.

    Renewing is no reason for an error: a server may have no place left, or none until the session that ended is gone.
    """
    if time.monotonic() < record.info[RENEWED_AT]:
        return
    is_prepared = connecting.prepare()
    if is_prepared:
        raise DisconnectionError("this session has lived its time")
    if is_prepared is False:
        record.info[RENEWED_AT] = time.monotonic() + REFUSED_SECONDS


def _end_transaction(connection: Any, _record: Any, _state: Any) -> None:
    """End the session's transaction with a statement, because psycopg2 and SQLAlchemy's reset do not know it.

    The pool discards connections on which this fails.  Raises: psycopg2.Error.
    """
    if connection.autocommit:
        if connection.info.transaction_status != TRANSACTION_STATUS_IDLE:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
        connection.autocommit = False
