"""How far the clocks of hosts are ahead of the database's."""

from __future__ import annotations

from app.store.core import clock
from app.store.core.unit_of_work import UnitOfWork


def ahead(uow: UnitOfWork) -> float:
    """By how many seconds this host's clock is ahead of the database's; negative: behind."""
    return round(clock.clock_of(uow.engine).ahead.total_seconds(), 3) + 0.0  # never -0.0


def skews(uow: UnitOfWork) -> dict[tuple[str, str], float]:
    """The same for every (host, program) that has measured recently."""
    with uow.begin() as tx:
        return {(row.host, row.program): row.ahead_seconds for row in clock.skews(tx.connection)}
