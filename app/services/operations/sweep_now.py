"""Run the sweep at once for an operator, and write it into the audit log."""

from __future__ import annotations

from datetime import datetime

from app.services.operations.sweep import Swept, sweep
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import audit_log


def sweep_now(uow: UnitOfWork, policy: Policy, *, actor: str, now: datetime) -> Swept:
    """As the sweep that beat sends; it may run beside that one.  Locks: as sweep."""
    done = sweep(uow, policy, now=now)
    with uow.begin() as tx:
        audit_log.add(tx, actor, "sweep.run", "sweep", **done.counts)
    return done
