"""Drop what the dead left behind, and count it: an orphan is an alarm, not routine (docs/adr/0005)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from app.domain.lifecycle import Failure
from app.services.policy import Policy
from app.store import (
    accounts,
    analyses,
    dead_letters,
    events,
    idempotency,
    messages,
    quota,
    rates,
    schedule,
    slots,
)
from app.store.unit_of_work import UnitOfWork

KEYS_LIVE = timedelta(hours=24)
SLOTS_LIVE = timedelta(days=30)

BURIED = Failure("undeliverable", "The job could not be given to a worker; it has been put aside for the operator.")


@dataclass(frozen=True, slots=True)
class Swept:
    """How many of each.  orphans: reservations without a job; buried: jobs that ended in the dead letters."""

    extended: int
    orphans: int
    slots: int
    buried: int
    pruned: int


def sweep(uow: UnitOfWork, policy: Policy, *, now: datetime) -> Swept:
    """One round; every step is a transaction of its own, so a stop between two loses nothing."""
    with uow.begin() as tx:
        extended = quota.extend_living(tx, now=now, ttl=policy.reservation_ttl)
    with uow.begin() as tx:
        orphans = quota.sweep(tx, now=now)
        for orphan in orphans:
            events.add(tx, UUID(str(orphan["job_id"])), "reservation_orphaned", amount=orphan["reserved_amount"])
    with uow.begin() as tx:
        freed = slots.sweep(tx)
        for user_id, service in freed:
            messages.wake(tx, user_id, service)
    buried = _bury(uow, policy, now=now)
    with uow.begin() as tx:
        pruned = idempotency.prune(tx, before=now - KEYS_LIVE) + accounts.prune(tx, now=now) + rates.prune(tx)
        pruned += schedule.prune(tx, before=now - SLOTS_LIVE)
    return Swept(extended, len(orphans), len(freed), buried, pruned)


def _bury(uow: UnitOfWork, policy: Policy, *, now: datetime) -> int:
    """End the jobs whose messages the broker gave up."""
    with uow.begin() as tx:
        job_ids = dead_letters.unfinished_jobs(tx)
        for job_id in job_ids:
            # one that never started has no record yet; this runs in a worker, who may make it
            analyses.start(tx, job_id, parser_version=policy.parser_version, attempt=1, now=now)
            analyses.fail(tx, job_id, BURIED, now=now)
            quota.release(tx, job_id)
            events.add(tx, job_id, "failed", code=BURIED.code)
        return len(job_ids)
