"""Switch the changes of the web off, so that results can be read while the database is moved or mended."""

from __future__ import annotations

from time import monotonic
from weakref import WeakKeyDictionary

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.errors import Message, ReadOnly
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import audit_log, read_only
from app.store.operations.read_only import ChangesState

#: How long a process goes on with what it has read.
SECONDS = 2.0
#: When to try a change again.
RETRY_SECONDS = 30
_known: WeakKeyDictionary[Engine, tuple[float, ChangesState | None]] = WeakKeyDictionary()


def state(uow: UnitOfWork) -> ChangesState | None:
    """Why no changes are taken now; None if they are.  Raises: SQLAlchemyError."""
    with uow.once() as tx:
        found = read_only.state(tx)
    return found if found.is_databases or found.since else None


def known(uow: UnitOfWork) -> ChangesState | None:
    """The state as this process knows it, at most `SECONDS` old; what was known before if the database is away.

    One request asks, and until it has its answer the others go on with what was known; only at first, all ask.
    """
    until, found = _known.get(uow.engine, (0.0, None))
    if monotonic() < until:
        return found
    if uow.engine in _known:  # a silent database would hold the thread of each request that looks
        _keep(uow, found)
    try:
        found = state(uow)
    except SQLAlchemyError:  # whatever needs the database says so itself
        _, found = _known.get(uow.engine, (until, found))  # another one may have had an answer meanwhile
    _keep(uow, found)
    return found


def _keep(uow: UnitOfWork, found: ChangesState | None) -> None:
    _known[uow.engine] = (monotonic() + SECONDS, found)


def refuse(why: ChangesState) -> ReadOnly:
    """The answer to a change."""
    if why.since is None:
        detail = Message("The database takes no changes at present. Try again later.")
    elif why.reason is None:
        detail = Message("An operator has switched changes off. Try again later.")
    else:
        detail = Message(
            "An operator has switched changes off (%(reason)s). Try again later.", reason=why.reason.rstrip(".。 ")
        )
    return ReadOnly(detail, retry_after=RETRY_SECONDS)


def switch(uow: UnitOfWork, *, on: bool, actor: str, reason: str | None = None) -> None:
    """Let the web take no changes, or let it take them again; idempotent, and followed within `SECONDS`."""
    with uow.begin() as tx:
        read_only.switch(tx, on=on, actor=actor, reason=reason)
        action = "service.read_only" if on else "service.writable"
        audit_log.add(tx, actor, action, "web", **({"reason": reason} if reason else {}))
