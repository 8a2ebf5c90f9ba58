"""Renew a running job's slot, write its progress, and find out whether it should stop."""

from __future__ import annotations

from enum import StrEnum

from app.domain.lifecycle import Delivery
from app.domain.queues import Service
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork
from app.store.jobs import heartbeats


class Pulse(StrEnum):
    """The outcome of a heartbeat, which decides how the running job continues."""

    GO_ON = "go_on"
    STOP = "stop"  #: a user asked to cancel
    LOST = "lost"  #: another worker has the lease: this one is a zombie and must end without a write


def beat(
    uow: UnitOfWork, service: Service, delivery: Delivery, policy: Policy, progress: tuple[str, int, int] | None
) -> Pulse:
    """Renew the slot and write progress (phase, done, total; None: unchanged) in one statement, under the fence."""
    with uow.once() as tx:
        cancelled = heartbeats.beat(tx, service, delivery, progress, lease_seconds=policy.lease_seconds)
    if cancelled is None:
        return Pulse.LOST
    return Pulse.STOP if cancelled else Pulse.GO_ON
