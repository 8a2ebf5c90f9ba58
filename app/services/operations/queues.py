"""Show, pause and resume queues."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from app.domain.queues import ALL_QUEUES
from app.errors import InvalidInput
from app.store import audit_log, queues
from app.store.unit_of_work import UnitOfWork


def states(uow: UnitOfWork) -> list[dict[str, Any]]:
    """rows: queue, paused, ready, oldest_seconds, leased, delayed, snoozed, parked, dead, estimated.

    estimated: names of the numbers above 10,000, which are estimates.
    """
    with uow.begin() as tx:
        return queues.states(tx)


def holdings(uow: UnitOfWork) -> list[tuple[str, str, float]]:
    """(name, what it counts, value) of what is taken or reserved now, for all users together."""
    with uow.begin() as tx:
        row = queues.totals(tx)
    return [
        ("slots_taken", "Execution slots in use", float(row.slots)),
        ("snoozed_messages", "Messages over their user's limit", float(row.snoozed)),
        ("reserved_units", "Quota units reserved by unfinished jobs", float(row.reserved)),
        ("dead_letters", "Dead letters", float(row.dead)),
    ]


def pause(uow: UnitOfWork, queue: str, *, actor: str, now: datetime) -> None:
    """Deliver no message of a queue until it is resumed; idempotent.  Raises: InvalidInput."""
    _set(uow, queue, now, actor=actor, action="queue.pause")


def set_paused(uow: UnitOfWork, queue: str, *, paused: bool, actor: str, now: datetime) -> None:
    """As pause or resume.  Raises: InvalidInput."""
    if paused:
        pause(uow, queue, actor=actor, now=now)
    else:
        resume(uow, queue, actor=actor)


def resume(uow: UnitOfWork, queue: str, *, actor: str) -> None:
    """Deliver a queue's messages again; idempotent.  Raises: InvalidInput."""
    _set(uow, queue, None, actor=actor, action="queue.resume")


def _set(uow: UnitOfWork, queue: str, paused_at: datetime | None, *, actor: str, action: str) -> None:
    if queue not in ALL_QUEUES:
        allowed = f"expected one of {', '.join(ALL_QUEUES)}"
        raise InvalidInput(f"There is no queue {queue!r}; {allowed}", errors=[{"pointer": "/queue", "detail": allowed}])
    with uow.begin() as tx:
        queues.set_paused(tx, queue, paused_at)
        audit_log.add(tx, actor, action, queue)
