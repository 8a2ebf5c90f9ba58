"""Count what happens to jobs, for monitors: totals since counting began, which only grow (docs/adr/0080)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.exc import SQLAlchemyError

from app.store.core.database_errors import is_databases
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import event_totals
from app.store.operations.event_totals import TotalRow

#: In seconds: small ones for the time from a wake to a worker, large ones for long waits in a line.
BOUNDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600)
#: Ids that one transaction counts: less than a second.
MOST_EVENTS = 20_000


def count_new(uow: UnitOfWork, *, batches: int, most: int = MOST_EVENTS) -> int:
    """Count what has happened since the last call, whoever made it, in so many transactions at most.

    -> how many events are left.  Locks: as event_totals.add_new.
    """
    left = 0
    for _ in range(batches):
        with uow.begin() as tx:
            left = event_totals.add_new(tx, bounds=BOUNDS, most=most)
            tx.relax()  # what a crash of the server undoes is counted again
        if not left:
            break
    return left


def totals(uow: UnitOfWork) -> Sequence[TotalRow]:
    """The totals up to this moment; those of the last count where the database takes no writes, or takes them late."""
    try:
        count_new(uow, batches=1)
    except SQLAlchemyError as error:
        if not is_databases(error):
            raise
    with uow.once() as tx:
        return event_totals.totals(tx)
