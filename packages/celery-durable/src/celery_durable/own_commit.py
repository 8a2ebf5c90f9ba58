"""A queue that comes into being with its first message, in a commit of its own although the message waits for another.

A queue's name is unique: whoever adds it a second time waits for the commit of the first.  So the first message of a
queue, published in a long transaction, would hold up everybody else's.  Its row is written through a short session with
the parameters of the caller's own; where that cannot be, in the caller's transaction.
"""

import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from threading import Timer
from typing import Any

import psycopg2

from .database import Run
from .statements import Statements

logger = logging.getLogger(__name__)

#: A transaction with one snapshot would not see the row; another role might have other rights, or another path.
_SEES_IT = """
    SELECT current_setting('transaction_isolation') = 'read committed' AND current_user = session_user,
           current_setting('search_path')"""
#: As all sessions of the transport.
_READ_COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
#: Somebody else may be adding it in a transaction, or the caller itself: then it is waited for there.
_BRIEFLY = "SELECT set_config('lock_timeout', '500ms', true), set_config('search_path', %(path)s, true)"
CONNECT_SECONDS = 2
#: A pooler takes the session at once, and may have no other one of the server for it but the caller's.
ANSWER_SECONDS = 2.0


def adds_queue(connection: Any, run: Run, sql: Statements) -> Callable[[str], None]:
    """-> what adds a queue for a message in the transaction of `connection`."""

    def add(queue: str) -> None:
        if run(sql.has_queue, {"queue": queue}):
            return
        if not _added_apart(connection, run, sql, queue):
            run(sql.add_queue, {"queue": queue})

    return add


def _added_apart(connection: Any, run: Run, sql: Statements, queue: str) -> bool:
    [(sees_it, path)] = run(_SEES_IT, {})
    if not sees_it:
        return False
    try:
        driver = _driver(connection)
        if driver.autocommit:
            return False
        with closing(_connect(driver)) as own, _cut_after(own, ANSWER_SECONDS):
            with own.cursor() as cursor:
                cursor.execute(_READ_COMMITTED)
                cursor.execute(_BRIEFLY, {"path": path})
                cursor.execute(sql.add_queue, {"queue": queue})
            own.commit()
    except Exception as error:  # noqa: BLE001  of either driver; the caller's transaction can do it
        logger.debug("event=queue_not_added_apart queue=%s error=%r", queue, error)
        return False
    return True


def _driver(connection: Any) -> Any:
    """The driver's connection below a Session or a Connection of SQLAlchemy, or below Django's."""
    if not hasattr(connection, "cursor") and not hasattr(connection, "exec_driver_sql"):
        connection = connection.connection()  # a Session
    if not hasattr(connection, "cursor") or not hasattr(connection, "info"):
        connection = connection.connection
    return getattr(connection, "dbapi_connection", connection)


def _connect(driver: Any) -> Any:
    """A session like this one.  The driver's own words for its parameters leave the password out."""
    info = driver.info
    is_psycopg2 = isinstance(driver, psycopg2.extensions.connection)
    given = dict(info.dsn_parameters if is_psycopg2 else info.get_parameters())
    if info.password:
        given["password"] = info.password
    connect = psycopg2.connect if is_psycopg2 else type(driver).connect
    return connect(**{**given, "connect_timeout": CONNECT_SECONDS})


@contextmanager
def _cut_after(connection: Any, seconds: float) -> Iterator[None]:
    """End the session if the block takes longer: the driver waits for an answer without an end, and raises then."""

    def cut() -> None:
        with suppress(OSError), closing(socket.socket(fileno=os.dup(connection.fileno()))) as same:
            same.shutdown(socket.SHUT_RDWR)

    timer = Timer(seconds, cut)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # the descriptor may be another's as soon as the session is closed
