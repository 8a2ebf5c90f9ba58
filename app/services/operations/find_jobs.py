"""Find jobs of all users for an operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.jobs import Job
from app.domain.lifecycle import FINAL
from app.services.jobs import describe
from app.services.policy import Policy
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.core.reading import read_current
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import job_search
from app.store.operations.job_search import FoundJobRow, JobFilter

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

    def described(tx: Tx, rows: Sequence[FoundJobRow]) -> dict[UUID, Job]:
        job_ids = [row.job_id for row in rows if row.job_id]
        return describe.jobs(tx, job_ids, policy, asker=None, sees_all=True, now=now) if job_ids else {}

    def fetch(tx: Tx) -> tuple[list[FoundJobRow], dict[UUID, Account], dict[UUID, Job]]:
        rows = job_search.find(tx, wanted, before=before, most=SIZE + 1, searched=SEARCHED)
        page = [row for row in rows if row.job_id][:SIZE]
        payers = users.find_each(tx, {row.user_id for row in page if row.user_id})
        return rows, payers, described(tx, [row for row in page if uow.replica is None or row.state in FINAL])

    rows, payers, found = read_current(uow, fetch)
    matching = [row for row in rows if row.job_id is not None]
    page = matching[:SIZE]
    if uow.replica is not None and (under_way := [row for row in page if row.job_id not in found]):
        with uow.begin() as tx:  # only the primary knows what every job waits for
            found |= described(tx, under_way)
    is_cut = len(matching) <= SIZE and bool(rows) and rows[0].looked == SEARCHED
    following = page[-1].id if len(matching) > SIZE else rows[0].oldest if is_cut else None
    jobs = [
        FoundJob(found[row.job_id], payers.get(row.user_id) if row.user_id else None)
        for row in page
        if row.job_id and row.job_id in found
    ]
    return FoundJobs(jobs, following, is_cut)
