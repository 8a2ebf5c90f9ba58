"""Whether a database error was caused by the statement and its values, or by the state of the database."""

from __future__ import annotations

from sqlalchemy import exc

#: Classes of SQLSTATE that follow from the statement and recur whenever it is sent: cardinality, data, constraints,
#: view checks, limits of a program, errors raised by our own functions.
OF_THE_CALLER = frozenset({"21", "22", "23", "27", "44", "54", "P0"})

NO_SUCH_KEY, OF_USERS = "23503", "_user_id_fkey"  # of the constraints that refer to users


def is_databases(error: BaseException) -> bool:
    """Whether the same call may succeed once the database works again.

    Unavailable, full, out of memory, read-only, restarting, damaged, a lock held too long, a table or a right that is
    missing during a migration: none of this is caused by the job.
    """
    if isinstance(error, exc.TimeoutError):  # the pool had no connection left
        return True
    if not isinstance(error, exc.DBAPIError):
        return False
    if code := code_of(error):
        return code[:2] not in OF_THE_CALLER
    # errors without a code come from the driver itself: a broken connection, or a value that it cannot send
    return error.connection_invalidated or isinstance(error, (exc.OperationalError, exc.InterfaceError))


def lacks_account(error: BaseException) -> bool:
    """Whether a row was refused as its account is not in this database any more: it was deleted, or has moved."""
    return code_of(error) == NO_SUCH_KEY and (constraint_of(error) or "").endswith(OF_USERS)


def constraint_of(error: BaseException) -> str | None:
    """The name of the constraint that refused a row, if the server gave one."""
    return getattr(getattr(getattr(error, "orig", None), "diag", None), "constraint_name", None)


def code_of(error: BaseException) -> str | None:
    """The SQLSTATE, if the server gave one."""
    return getattr(getattr(error, "orig", None), "pgcode", None)
