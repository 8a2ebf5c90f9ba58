"""Remove and count what dead processes left behind: an orphan is an alarm, not routine (docs/adr/0005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from app.domain.lifecycle import Failure
from app.domain.queues import Service
from app.services.fairness import wake_jobs
from app.services.jobs import end_job
from app.services.operations import count_events
from app.services.operations.run_in_batches import in_batches, step
from app.services.operations.shown_rows import ShownRow
from app.services.policy import Policy
from app.store.accounts import one_time_secrets, open_sessions, rates, sign_ups, users
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.jobs import events, idempotency, quota, records, slots
from app.store.operations import audit_log, dead_letters, schedule

KEYS_LIVE = timedelta(hours=24)
SLOTS_LIVE = timedelta(days=30)
#: A million events, three times what the most that the service was measured with does between two sweeps.
COUNTS = 50

BURIED = Failure(
    "undeliverable",
    "The job could not be given to a worker; it was moved to the dead letters, which the operator sees.",
)


@dataclass(frozen=True, slots=True)
class Swept:
    """How many of each kind.  orphans: reservations without a job; buried: jobs that ended with a dead letter.

    rows: for the kinds `orphans`, `slots` and `buried`, a description of each.
    """

    extended: int
    orphans: int
    slots: int
    buried: int
    pruned: int
    rows: dict[str, Sequence[ShownRow]]

    @property
    def counts(self) -> dict[str, int]:
        """Count the swept rows by kind, in the order of a run."""
        return {kind: getattr(self, kind) for kind in ("extended", "buried", "orphans", "slots", "pruned")}


def sweep(uow: UnitOfWork, policy: Policy, *, now: datetime, dry_run: bool = False) -> Swept:
    """Sweep once; every step is a transaction of its own, so a stop between two steps loses nothing.

    dry_run: each step is rolled back, so the counts are what a run would do.  Locks: the rows that it deletes or
    extends; it never waits for a step that has locked one.
    """
    ttl = policy.reservation_ttl
    extended = in_batches(uow, lambda *at: quota.extend_living(*at, now=now, ttl=ttl), dry_run=dry_run)
    with step(uow, dry_run=dry_run) as tx:
        buried = _bury(tx, policy, now=now)
    with step(uow, dry_run=dry_run) as tx:
        orphans = drop_orphans(tx, expired_by=now)
    with step(uow, dry_run=dry_run) as tx:
        freed = slots.sweep(tx)
        for slot in freed:
            if account := users.find(tx, slot.user_id):
                wake_jobs.wake(tx, account, Service(slot.service))
    with step(uow, dry_run=dry_run) as tx:
        pruned = idempotency.prune(tx, before=now - KEYS_LIVE) + open_sessions.prune(tx, now=now) + rates.prune(tx)
        pruned += one_time_secrets.prune(tx, now=now) + sign_ups.prune(tx, now=now)
        pruned += schedule.prune(tx, before=now - SLOTS_LIVE)
    if not dry_run:
        count_events.count_new(uow, batches=COUNTS)  # also where nobody reads metrics
    rows: dict[str, Sequence[ShownRow]] = {
        "buried": buried,
        "orphans": orphans,
        "slots": [slot._asdict() for slot in freed],
    }
    return Swept(extended, len(orphans), len(freed), len(buried), pruned, rows)


def drop_orphans(tx: Tx, *, expired_by: datetime | None) -> Sequence[ShownRow]:
    """Delete reservations whose job no longer exists, and write each into its timeline.

    expired_by: leave out those that expire later; None: no one.  Locks: those reservations, never waiting for one.
    """
    dropped = quota.sweep(tx, now=expired_by or datetime.max.replace(tzinfo=UTC))
    for orphan in dropped:
        events.add(tx, UUID(str(orphan["job_id"])), "reservation_orphaned", amount=orphan["reserved_amount"])
    return dropped


def orphans(uow: UnitOfWork) -> int:
    """How many orphans all runs have found: this number only increases, whichever process counts."""
    with uow.once() as tx:
        return events.orphans(tx)


def _bury(tx: Tx, policy: Policy, *, now: datetime) -> list[ShownRow]:
    """End the jobs whose messages the broker gave up; a job without askers ends as cancelled."""
    buried: list[ShownRow] = []
    for job in dead_letters.unfinished_jobs(tx):
        job_id, service = job.job_id, Service(job.service)
        # a job that never started has no record yet; this code runs in a worker, which may create it
        records.start(tx, service, job_id, maker=policy.maker(service), attempt=1, now=now)
        if job.wanted and records.fail(tx, service, job_id, BURIED, now=now):
            events.add(tx, job_id, "failed", code=BURIED.code)
        elif not job.wanted and records.cancel(tx, service, job_id, now=now):
            events.add(tx, job_id, "cancelled", attempt=0)
        else:  # another sweep has ended it meanwhile
            continue
        end_job.clear(tx, job_id, service)
        quota.release(tx, job_id)
        buried.append({"job_id": job_id, "ended": "failed" if job.wanted else "cancelled"})
    return buried


def sweep_now(uow: UnitOfWork, policy: Policy, *, actor: str, now: datetime) -> Swept:
    """Sweep at once, and write it into the audit log; beat's sweep may run beside.  Locks: as sweep."""
    done = sweep(uow, policy, now=now)
    with uow.begin() as tx:
        audit_log.add(tx, actor, "sweep.run", "sweep", **done.counts)
    return done
