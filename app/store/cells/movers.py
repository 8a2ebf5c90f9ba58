"""Whether a process is at work on the move of an account: it holds a lock of its session with the directory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from sqlalchemy import Engine

#: The lock goes with the session, so with the process, however that ends.
_TRY = "SELECT pg_try_advisory_lock(hashtextextended('fairlane move ' || %s, 0))"


@contextmanager
def only_one(directory: Engine, user_id: UUID) -> Iterator[bool]:
    """Be the only process that moves this account; False if there is one.

    directory: reached without a transaction pooler, as the lock is of a session.  Raises: SQLAlchemyError.
    """
    with directory.connect() as opened:
        try:
            connection: Any = opened.connection.driver_connection
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(_TRY, (str(user_id),))
                [is_ours] = cursor.fetchone()
            yield bool(is_ours)
        finally:
            opened.invalidate()  # it holds the lock, and nobody else should get it
