"""Find jobs of all users for an operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.jobs import Job
from app.services.jobs import describe
from app.services.policy import Policy
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import job_search
from app.store.operations.job_search import JobFilter

SIZE = 50  # jobs on a page
SEARCHED = 5_000  # requests that one page looks through, about 30 ms


@dataclass(frozen=True, slots=True)
class FoundJob:
    """A job that a search found.  payer: who asked first, None for the schedule and for deleted accounts."""

    job: Job
    payer: Account | None


@dataclass(frozen=True, slots=True)
class FoundJobs:
    """One page of found jobs.

    next: cursor of the next one; is_cut: SEARCHED requests were looked through before the page was full, so the next
    page may have more.
    """

    jobs: Sequence[FoundJob]
    next: int | None
    is_cut: bool


def find_jobs(
    uow: UnitOfWork, wanted: JobFilter, policy: Policy, *, before: int | None = None, now: datetime
) -> FoundJobs:
    """Newest requests first.  before: `next` of the previous page."""
    with uow.begin() as tx:
        rows = job_search.find(tx, wanted, before=before, most=SIZE + 1, searched=SEARCHED)
        matching = [row for row in rows if row.job_id is not None]
        page = matching[:SIZE]
        payers = users.find_each(tx, {row.user_id for row in page if row.user_id})
        found = describe.jobs(
            tx, [row.job_id for row in page if row.job_id], policy, asker=None, sees_all=True, now=now
        )
    is_cut = len(matching) <= SIZE and bool(rows) and rows[0].looked == SEARCHED
    following = page[-1].id if len(matching) > SIZE else rows[0].oldest if is_cut else None
    jobs = [
        FoundJob(found[row.job_id], payers.get(row.user_id) if row.user_id else None)
        for row in page
        if row.job_id and row.job_id in found
    ]
    return FoundJobs(jobs, following, is_cut)
