"""Whether the service can work: whether everything that it needs is available, for reads and for writes."""

from __future__ import annotations

from functools import cache
from time import monotonic
from weakref import WeakKeyDictionary

from packaging.version import Version
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.domain.queues import ALL_QUEUES
from app.services.operations import read_only
from app.store.core import clock, reading, schema
from app.store.core.database_errors import code_of
from app.store.core.schema import SchemaState
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import queues
from app.version import VERSION

WRITES = "writes"
#: What is said of writes while an operator has switched changes off.
SWITCHED_OFF = "switched off"
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
            found = schema.state(tx.connection)
            checks["migrations"] = serves(VERSION, needed_revision or this_revision(), found)
            missing = sorted(set(ALL_QUEUES) - set(queues.names(tx))) if found.revision else list(ALL_QUEUES)
            checks["queues"] = f"missing {', '.join(missing)}" if missing else "ok"
        checks["database"] = "ok"
        checks[WRITES] = _written(uow)
    except SQLAlchemyError as error:
        checks["database"] = f"away ({type(error).__name__})"
    return checks


def serves(version: str, needed: str, found: SchemaState) -> str:
    """`ok`, or why a release cannot serve a schema.

    version, needed: those of the release and of its newest migration.  A newer schema says which releases it serves,
    so the database can be migrated before the processes are replaced.
    """
    if found.revision is None or found.revision < needed:
        at = f"at revision {found.revision}" if found.revision else "not there"
        return f"the schema is {at}; this release {version} needs {needed}"
    if found.revision == needed or (found.oldest and Version(found.oldest) <= Version(version)):
        return "ok"
    of = found.version or f"revision {found.revision}"
    oldest = found.oldest or "a newer one"
    return f"this release {version} is too old for the schema of {of}; the oldest that works is {oldest}"


def schema_of_database(uow: UnitOfWork) -> tuple[str, bool]:
    """-> (as `serves` of this release, whether the schema is newer than it).  Raises: SQLAlchemyError."""
    needed = this_revision()
    with uow.begin() as tx:
        found = schema.state(tx.connection)
    return serves(VERSION, needed, found), found.revision is not None and found.revision > needed


@cache
def this_revision() -> str:
    """The newest migration of this release."""
    return schema.needed()


def _written(uow: UnitOfWork) -> str:
    """`ok` if changes are taken; where they are switched off or cannot be written, reads work."""
    until, word = _writes.get(uow.engine, (0.0, ""))
    if monotonic() < until:
        return word
    try:
        why = read_only.state(uow)
        with uow.begin() as tx:
            word = SWITCHED_OFF if why and why.since else schema.writes(tx)
    except SQLAlchemyError as error:
        word = f"cannot be written to ({type(error).__name__}, {code_of(error)})"
    _writes[uow.engine] = (monotonic() + WRITES_SECONDS, word)
    return word


def replica_fault(uow: UnitOfWork) -> str | None:
    """Why the replica cannot be used now; None if it can, or there is none."""
    return None if uow.replica is None else reading.fault_of(uow, uow.replica)


def ahead(uow: UnitOfWork) -> float:
    """Measure how many seconds this host's clock is ahead of the database's; negative: behind."""
    return round(clock.clock_of(uow.engine).ahead.total_seconds(), 3) + 0.0  # never -0.0


def skews(uow: UnitOfWork) -> dict[tuple[str, str], float]:
    """How far the clock of every (host, program) is ahead that has measured recently."""
    with uow.begin() as tx:
        return {(row.host, row.program): row.ahead_seconds for row in clock.skews(tx.connection)}
