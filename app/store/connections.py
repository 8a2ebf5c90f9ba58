"""Connections of a pool: none is given out that the server has closed, none taken back inside of a transaction."""

from __future__ import annotations

import select
from typing import Any

import psycopg2
from psycopg2.extensions import TRANSACTION_STATUS_IDLE
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import InvalidatePoolError


def make_engine(
    url: str, *, pool_size: int = 5, overflow: int | None = None, application_name: str = "fairlane"
) -> Engine:
    """An engine that survives a restarted PostgreSQL and gives up on locks rather than hang.

    overflow: connections beyond the pool's size, which are closed after use; None: as many again.
    """
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
            # a client that stops mid-transaction is cut off before those who wait for its user's row give up: or every
            # process that meets a job of this user would stand still as well (docs/broker-hazards.md H4)
            "options": "-c lock_timeout=10s -c idle_in_transaction_session_timeout=5s -c timezone=UTC",
        },
    )
    event.listen(engine, "checkout", _refuse_closed)
    event.listen(engine, "reset", _end_transaction)
    return engine


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
