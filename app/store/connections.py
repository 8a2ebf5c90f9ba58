"""Connections of a pool: none is given out that the server has closed, none taken back inside of a transaction.

Each transaction has the limits below.  A session of PostgreSQL's own gets them when it begins.  A pooler of
transactions refuses or drops what a session asks for then: there every transaction begins with them.
"""

from __future__ import annotations

import select
from collections.abc import Mapping
from functools import partial
from typing import Any

import psycopg2
from psycopg2.extensions import TRANSACTION_STATUS_IDLE
from sqlalchemy import Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.exc import InvalidatePoolError

#: As the server shows them.  A client that stops mid-transaction is cut off before those who wait for its user's row
#: give up: or every process that meets a job of this user would stand still as well (docs/broker-hazards.md H4).
LIMITS = {"lock_timeout": "10s", "idle_in_transaction_session_timeout": "5s", "TimeZone": "UTC"}
_IN_FORCE = "SELECT " + " AND ".join(f"current_setting('{name}') = '{value}'" for name, value in LIMITS.items())
_TO_SET = "fairlane_to_set"


def make_engine(
    url: str,
    *,
    pool_size: int = 5,
    overflow: int | None = None,
    application_name: str = "fairlane",
    statement_seconds: float = 0,
) -> Engine:
    """An engine that survives a restarted PostgreSQL and gives up on locks rather than hang.

    overflow: connections beyond the pool's size, which are closed after use; None: as many again; statement_seconds:
    after which PostgreSQL ends a statement, 0 for never.
    """
    limits = LIMITS | {"statement_timeout": f"{statement_seconds * 1000:.0f}ms"}
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size if overflow is None else overflow,
        pool_timeout=10,
        pool_use_lifo=True,  # the sessions used last have their plans and catalogues at hand
        hide_parameters=True,  # an error of SQLAlchemy would print them, token hashes among them
        connect_args={
            "application_name": application_name,
            "connect_timeout": 5,
            # a server that vanished without a word must not hold a worker or a web thread for TCP's own two hours
            "keepalives_idle": 10,
            "keepalives_interval": 3,
            "keepalives_count": 3,
            "tcp_user_timeout": 15_000,
            "options": " ".join(f"-c {name}={value}" for name, value in limits.items()),
        },
    )
    # below the event do_connect, which is for those who use the engine
    engine.dialect.connect = _Connecting(engine.dialect.connect)  # type: ignore[method-assign]
    event.listen(engine, "connect", partial(_look, limits))
    event.listen(engine, "checkout", _refuse_closed)
    event.listen(engine, "reset", _end_transaction)
    return engine


def to_set(pooled: PoolProxiedConnection) -> str | None:
    """What each transaction has to begin with, where the session has not the limits."""
    return pooled.info.get(_TO_SET)


class _Connecting:
    """Connects without what the pooler has refused once."""

    def __init__(self, connect: Any) -> None:
        self._connect, self._refused = connect, False

    def __call__(self, *arguments: Any, **given: Any) -> Any:
        if not self._refused:
            try:
                return self._connect(*arguments, **given)
            except psycopg2.OperationalError as error:
                if "startup parameter" not in str(error):
                    raise
                self._refused = True
        return self._connect(*arguments, **{name: value for name, value in given.items() if name != "options"})


def _look(limits: Mapping[str, str], connection: Any, record: Any) -> None:
    """See whether the limits have arrived.  A pooler that was told to ignore them does so without a word."""
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(_IN_FORCE)
        if not cursor.fetchone()[0]:
            record.info[_TO_SET] = "; ".join(f"SET LOCAL {name} = '{value}'" for name, value in limits.items())
    connection.autocommit = False


def _refuse_closed(connection: Any, _record: Any, _pooled: Any) -> None:
    """An idle server says nothing.  One that speaks says good-bye, and one that was killed has closed the socket.

    A look at the socket costs a system call, where a query costs a round trip.  Raises: InvalidatePoolError.
    """
    try:
        idle = select.poll()
        idle.register(connection.fileno(), select.POLLIN)
        closed = bool(idle.poll(0))
    except psycopg2.InterfaceError:  # closed on our side
        closed = True
    if closed:
        raise InvalidatePoolError


def _end_transaction(connection: Any, _record: Any, _state: Any) -> None:
    """A session's transaction is its own statements, of which psycopg2, and so SQLAlchemy's own reset, knows nothing.

    The pool throws away what cannot do this.  Raises: psycopg2.Error.
    """
    if connection.autocommit:
        if connection.info.transaction_status != TRANSACTION_STATUS_IDLE:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
        connection.autocommit = False
