"""What a database contains that is to be dumped or replaced, and the lines about it in the operators' log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.store.core import schema
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import audit_log, contents
from app.store.operations.faults.upkeep import analyze_all, unhurried


@dataclass(frozen=True, slots=True)
class Target:
    """A database that may be replaced.

    major: the server's version; living: nodes, and other processes of the service that have a session; is_empty: it has
    no table; is_foreign: it has tables, and none of this service's; accounts, jobs: about how many it has.
    """

    major: int
    living: Sequence[str]
    is_empty: bool
    is_foreign: bool
    accounts: int
    jobs: int


def read_target(uow: UnitOfWork) -> Target:
    """Read its contents and its users, whatever its schema."""
    with uow.begin() as tx:
        found, revision = contents.read(tx), schema.revision(tx.connection)
        living = [*contents.living_nodes(tx), *contents.programs(tx)]
    is_foreign = found.tables > 0 and revision is None
    return Target(found.major, living, found.tables == 0, is_foreign, found.accounts, found.jobs)


def record_backup(uow: UnitOfWork, *, actor: str, written: int) -> None:
    """Write into the audit log that somebody has a copy of everything.  written: bytes."""
    with uow.begin() as tx:
        audit_log.add(tx, actor, "database.backup", "database", bytes=written)


def record_restore(uow: UnitOfWork, *, actor: str, revision: str) -> None:
    """Count the rows again, which no dump does, and write into the audit log where this database comes from."""
    with unhurried(uow.engine) as connection:
        analyze_all(connection)
    with uow.begin() as tx:
        audit_log.add(tx, actor, "database.restore", "database", revision=revision)
