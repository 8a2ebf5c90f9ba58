"""Renew a running job's slot, write its progress, and find out whether it should stop."""

from __future__ import annotations

from enum import StrEnum

from app.domain.lifecycle import Delivery
from app.domain.queues import Service
from app.services.policy import Policy
from app.store import messages, records, slots
from app.store.unit_of_work import UnitOfWork


class Pulse(StrEnum):
    """What a running job finds out."""

    GO_ON = "go_on"
    STOP = "stop"  #: a user asked to cancel
    LOST = "lost"  #: another worker has the lease: this one is a zombie and must end without a write


def beat(
    uow: UnitOfWork, service: Service, delivery: Delivery, policy: Policy, progress: tuple[str, int, int] | None
) -> Pulse:
    """Renew the slot and write progress (phase, done, total), under the fence but without locking the message.

    These are two transactions, each with one locked row.  A finish of the same job locks the record before the slot, so
    holding both locks here, in any order, could deadlock with it.
    """
    with uow.begin() as tx:
        message = messages.peek(tx, delivery)
        if message is None:
            return Pulse.LOST
        slots.renew(tx, delivery, lease_seconds=policy.lease_seconds)
    if progress:
        with uow.begin() as tx:
            records.progress(tx, service, delivery, *progress)
    return Pulse.STOP if message.cancelled else Pulse.GO_ON
