"""Whose fault an error of the database is: the statement's and its values', or the database's own."""

from __future__ import annotations

from sqlalchemy import exc

#: Classes of SQLSTATE that follow from what was sent, and come again whenever it is sent: cardinality, data,
#: constraints, views' checks, limits of a program, errors raised by functions of our own.
OF_THE_CALLER = frozenset({"21", "22", "23", "27", "44", "54", "P0"})


def is_databases(error: BaseException) -> bool:
    """Whether the same call may succeed once the database is well again.

    Away, full, out of memory, read-only, restarting, damaged, a lock held too long, a table or a right that is missing
    for the length of a migration: nothing of this is the job's doing.
    """
    if isinstance(error, exc.TimeoutError):  # no connection of the pool was to be had
        return True
    if not isinstance(error, exc.DBAPIError):
        return False
    if code := code_of(error):
        return code[:2] not in OF_THE_CALLER
    # without a code the driver itself speaks: of a broken connection, or of a value that it cannot send
    return error.connection_invalidated or isinstance(error, (exc.OperationalError, exc.InterfaceError))


def code_of(error: BaseException) -> str | None:
    """The SQLSTATE, if the server gave one."""
    return getattr(getattr(error, "orig", None), "pgcode", None)
