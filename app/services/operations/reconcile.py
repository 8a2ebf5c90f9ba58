"""Compare completed jobs with bills, for each user and period (docs/adr/0024)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.services.operations.shown_rows import ShownRow
from app.store import reconciliations
from app.store.unit_of_work import UnitOfWork

#: Two billing periods and a little: nothing older is accepted into, and few older jobs still run.
LOOKS_BACK = timedelta(days=65)


@dataclass(frozen=True, slots=True)
class Reconciled:
    """jobs: completed and billable; events: billed; differences: one row for each user and period where they differ."""

    jobs: int
    events: int
    differences: list[ShownRow]


def reconcile(uow: UnitOfWork, *, now: datetime, since: datetime | None = None) -> Reconciled:
    """Count both sides of the jobs accepted since then (None: 65 days ago), and store the result."""
    since = since or now - LOOKS_BACK
    with uow.begin() as tx:
        found = reconciliations.count(tx, since=since)
        done = Reconciled(int(found.jobs), int(found.events), list(found.differences))
        reconciliations.add(tx, since=since, jobs=done.jobs, events=done.events, differences=done.differences, now=now)
    return done


@dataclass(frozen=True, slots=True)
class LastReconciled:
    """differences: how many users and periods were billed otherwise than completed."""

    ran_at: datetime
    differences: int


def last_reconciled(uow: UnitOfWork) -> LastReconciled | None:
    """Of the last run; None before the first."""
    with uow.begin() as tx:
        last = reconciliations.newest(tx)
    return LastReconciled(last.ran_at, last.differences) if last else None
