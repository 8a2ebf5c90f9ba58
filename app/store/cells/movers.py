"""Whether a process is at work on the move of an account: it holds a lock of its session with the directory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID

import psycopg2
from sqlalchemy import Engine

#: The lock goes with the session, so with the process, however that ends.
_TRY = "SELECT pg_try_advisory_lock(hashtextextended('fairlane move ' || %s, 0))"
_LET_GO = "SELECT pg_advisory_unlock(hashtextextended('fairlane move ' || %s, 0))"


@contextmanager
def only_one(directory: Engine, user_id: UUID) -> Iterator[bool]:
    """Be the only process that moves this account; False if there is one.

    directory: reached without a transaction pooler, as the lock is of a session.  Raises: SQLAlchemyError.
    """
    with directory.connect() as opened:
        connection: Any = opened.connection.driver_connection
        is_free = False
        try:
            connection.autocommit = True
            is_ours = _run(connection, _TRY, user_id)
            yield is_ours
            # kept for the next account: a new session costs the directory more than all that a move asks of it
            with suppress(psycopg2.Error):
                is_free = not is_ours or _run(connection, _LET_GO, user_id)
                connection.autocommit = False
        finally:
            if not is_free:
                opened.invalidate()  # it may hold the lock, and nobody else should get it


def _run(connection: Any, statement: str, user_id: UUID) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, (str(user_id),))
        return bool(cursor.fetchone()[0])
