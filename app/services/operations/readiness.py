"""Whether the service can work: whether everything that it needs is available, for reads and for writes."""

from __future__ import annotations

from functools import cache
from time import monotonic
from weakref import WeakKeyDictionary

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.domain.queues import ALL_QUEUES
from app.store.core import clock, schema
from app.store.core.database_errors import code_of
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import queues

WRITES = "writes"
#: How long an answer about writes is reused, so that frequent checks do not cause frequent writes.
WRITES_SECONDS = 2.0
_writes: WeakKeyDictionary[Engine, tuple[float, str]] = WeakKeyDictionary()


def readiness(uow: UnitOfWork, needed_revision: str | None = None) -> dict[str, str]:
    """For each need `ok` or the problem.  needed_revision: None = this release's.

    Shape: database, migrations and queues, which everything needs; writes, which a full or read-only database refuses
    while it still answers reads.
    """
    checks = dict.fromkeys(("database", "migrations", "queues", WRITES), "not checked")
    try:
        with uow.begin() as tx:
            revision, oldest = schema.revision(tx.connection), schema.oldest(tx.connection)
            checks["migrations"] = serves(needed_revision or this_release(), revision, oldest)
            missing = sorted(set(ALL_QUEUES) - set(queues.names(tx))) if revision else list(ALL_QUEUES)
            checks["queues"] = f"missing {', '.join(missing)}" if missing else "ok"
        checks["database"] = "ok"
        checks[WRITES] = _written(uow)
    except SQLAlchemyError as error:
        checks["database"] = f"away ({type(error).__name__})"
    return checks


def serves(needed: str, revision: str | None, oldest: str | None) -> str:
    """`ok`, or why a release cannot serve a schema.

    needed: the release's own revision; oldest: the oldest release that works with the schema, which allows migrating
    before the processes are replaced.
    """
    if revision == needed or (revision and oldest and oldest <= needed < revision):
        return "ok"
    if revision and revision > needed:
        oldest_release = oldest or "a newer one"
        return f"at revision {revision}; this release has {needed}, the oldest that works is {oldest_release}"
    return f"at revision {revision}; this release needs {needed}"


def schema_of_database(uow: UnitOfWork) -> tuple[str, bool]:
    """-> (as `serves` of this release, whether the schema is newer than it).  Raises: SQLAlchemyError."""
    needed = this_release()
    with uow.begin() as tx:
        revision, oldest = schema.revision(tx.connection), schema.oldest(tx.connection)
    return serves(needed, revision, oldest), revision is not None and revision > needed


@cache
def this_release() -> str:
    """The revision of this release."""
    return schema.needed()


def _written(uow: UnitOfWork) -> str:
    """`ok` if the database accepts writes; a full disk or a standby still answers reads."""
    until, word = _writes.get(uow.engine, (0.0, ""))
    if monotonic() < until:
        return word
    try:
        with uow.begin() as tx:
            word = "ok" if schema.writable(tx) else "read-only"
    except SQLAlchemyError as error:
        word = f"cannot be written to ({type(error).__name__}, {code_of(error)})"
    _writes[uow.engine] = (monotonic() + WRITES_SECONDS, word)
    return word


def ahead(uow: UnitOfWork) -> float:
    """Measure how many seconds this host's clock is ahead of the database's; negative: behind."""
    return round(clock.clock_of(uow.engine).ahead.total_seconds(), 3) + 0.0  # never -0.0


def skews(uow: UnitOfWork) -> dict[tuple[str, str], float]:
    """How far the clock of every (host, program) is ahead that has measured recently."""
    with uow.begin() as tx:
        return {(row.host, row.program): row.ahead_seconds for row in clock.skews(tx.connection)}
