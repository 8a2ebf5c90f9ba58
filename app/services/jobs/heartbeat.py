"""Keep a running job's slot, tell how far it is, and learn whether it should stop."""

from __future__ import annotations

from enum import StrEnum

from app.domain.lifecycle import Delivery
from app.domain.queues import Service
from app.services.policy import Policy
from app.store import messages, records, slots
from app.store.unit_of_work import UnitOfWork


class Pulse(StrEnum):
    """What a running job learns."""

    GO_ON = "go_on"
    STOP = "stop"  #: somebody asked to cancel
    LOST = "lost"  #: the lease is somebody else's: a zombie, end without a write


def beat(
    uow: UnitOfWork, service: Service, delivery: Delivery, policy: Policy, progress: tuple[str, int, int] | None
) -> Pulse:
    """Renew the slot and write progress (phase, done, total), under the fence but without its lock.

    Two transactions, each with one row locked: a finish of the same job locks the record before the slot, so holding
    both here in any order could meet it in a deadlock.
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
