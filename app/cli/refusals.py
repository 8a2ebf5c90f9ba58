"""Explain in one line, to the user of a command, why the database is not usable."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg2
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from app.store.core.database_errors import lacks_account

_MIGRATE = "run `fairlane migrate`, with the release that the service runs"
#: It is stopped, has crashed or starts, or has no connection left.
_OF_THE_SERVER = {"57P01", "57P02", "57P03", "53300"}
_AWAY = "the database does not answer"
#: Somebody else holds what a statement needs, or it took too long.
_BUSY = {"55P03", "57014"}
#: SQLSTATE, or its class -> the message.  Other errors are our defects, and keep their traceback.
_SAID = {
    "42P01": f"the database lacks tables that this release needs: {_MIGRATE}",
    "42703": f"the database lacks columns that this release needs: {_MIGRATE}",
    "42883": f"the database lacks functions that this release needs: {_MIGRATE}",
    "3F000": f"the database lacks the schema that this release needs: {_MIGRATE}",
    "42501": "the database's role may not do this: {said}; `fairlane migrate` as the tables' owner grants the rights",
    "25006": "the database accepts no writes: {said}",
    "55P03": "the database is busy: {said}; try again",
    "57014": "the database gave up: {said}; try again",
}


def sentence(error: BaseException) -> str | None:
    """One line without a secret; None if the error does not come from an unusable database."""
    for one in _causes(error):
        if isinstance(one, NoConnectionError):
            return f"{_AWAY}: all connections of this process are in use"
        if lacks_account(one):
            return "the account is not in this database any more: it was deleted or has moved meanwhile"
        if isinstance(one, psycopg2.Error):
            code, said = one.pgcode or "", _line(one)
            if code in _SAID:
                return _SAID[code].format(said=said)
            if not code and isinstance(one, psycopg2.ProgrammingError):  # an error of libpq, before it connected
                return f"DATABASE_URL is not accepted: {said}"
            if isinstance(one, psycopg2.OperationalError | psycopg2.InterfaceError) or code[:2] in (
                "08",
                "28",
                "3D",
                "53",
            ):
                return f"{_AWAY}: {said}"
    return None


def is_away(error: BaseException) -> bool:
    """Whether no session could begin, or the server ended it: it may be back in a moment."""
    return any(
        isinstance(one, psycopg2.OperationalError | psycopg2.InterfaceError)
        and (one.pgcode is None or one.pgcode.startswith("08") or one.pgcode in _OF_THE_SERVER)
        for one in _causes(error)
    )


def is_busy(error: BaseException) -> bool:
    """Whether the database refuses this statement, and may take the next one."""
    return any(isinstance(one, psycopg2.Error) and one.pgcode in _BUSY for one in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.orig if isinstance(found, DBAPIError) and found.orig else found.__cause__


def _line(error: psycopg2.Error) -> str:
    """The first line of the server's or libpq's message, which never contains a password."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
