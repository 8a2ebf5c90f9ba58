"""Show, pause and resume queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.domain.queues import ALL_QUEUES
from app.errors import InvalidInput, Message
from app.store.core.unit_of_work import UnitOfWork
from app.store.jobs import slots
from app.store.operations import audit_log, queues
from app.store.operations.queues import QueueState


def states(uow: UnitOfWork) -> list[QueueState]:
    """The states of all queues."""
    with uow.once() as tx:
        return queues.states(tx)


@dataclass(frozen=True, slots=True)
class Pause:
    """Since when a queue is paused.  by: an email, or the actor as in the audit log; None: nobody wrote it down."""

    queue: str
    since: datetime
    by: str | None
    reason: str | None


def pauses(uow: UnitOfWork) -> list[Pause]:
    """The queues that are paused now."""
    with uow.once() as tx:
        rows = queues.pauses(tx)
    return [Pause(row.queue, row.since, row.email or row.actor, row.reason) for row in rows]


@dataclass(frozen=True, slots=True)
class Holdings:
    """The slots and units that are taken or reserved now, for all users and queues together.

    slots: taken; snoozed: messages over their user's limit; reserved: units of unfinished jobs; dead: dead letters,
    counted to 100,000; slots_by_tier: those of users, by service and their tier of now.
    """

    slots: int
    snoozed: int
    reserved: int
    dead: int
    slots_by_tier: Mapping[tuple[str, str], int]


def holdings(uow: UnitOfWork) -> Holdings:
    """Count what is taken and reserved now."""
    with uow.begin() as tx:
        row = queues.totals(tx)
        by_tier = {(of.service, of.tier): of.slots for of in slots.by_tier(tx)}
    return Holdings(row.slots, row.snoozed, row.reserved, row.dead, by_tier)


def pause(uow: UnitOfWork, queue: str, *, actor: str, reason: str | None = None) -> None:
    """Deliver no message of a queue until it is resumed; idempotent.  Raises: InvalidInput."""
    _set(uow, queue, paused=True, actor=actor, action="queue.pause", reason=reason)


def set_paused(uow: UnitOfWork, queue: str, *, paused: bool, actor: str, reason: str | None = None) -> None:
    """Pause or resume a queue.  Raises: InvalidInput."""
    if paused:
        pause(uow, queue, actor=actor, reason=reason)
    else:
        resume(uow, queue, actor=actor)


def resume(uow: UnitOfWork, queue: str, *, actor: str) -> None:
    """Deliver a queue's messages again; idempotent.  Raises: InvalidInput."""
    _set(uow, queue, paused=False, actor=actor, action="queue.resume")


def _set(uow: UnitOfWork, queue: str, *, paused: bool, actor: str, action: str, reason: str | None = None) -> None:
    if queue not in ALL_QUEUES:
        allowed = f"expected one of {', '.join(ALL_QUEUES)}"
        raise InvalidInput(
            Message(
                "There is no queue %(queue)s; expected one of %(queues)s",
                queue=repr(queue),
                queues=", ".join(ALL_QUEUES),
            ),
            errors=[{"pointer": "/queue", "detail": allowed}],
        )
    with uow.begin() as tx:
        queues.set_paused(tx, queue, paused=paused)
        audit_log.add(tx, actor, action, queue, **({"reason": reason} if reason else {}))
