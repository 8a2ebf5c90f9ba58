"""Find the inventories that one can be compared with: those of other commits of its repository."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.jobs import Job
from app.domain.lifecycle import Status
from app.domain.queues import Service
from app.services.jobs import describe
from app.services.jobs.visibility import check_completed, check_visible
from app.services.policy import Policy
from app.store.accounts.users import Account
from app.store.analyses import analyses, other_results
from app.store.analyses.analyses import AnalysisRow
from app.store.analyses.other_results import OtherCommitRow
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.repositories import codebases

MOST = 50


@dataclass(frozen=True, slots=True)
class OtherCommit:
    """A completed analysis of another commit.  is_older: whether its commit is older than the compared one."""

    job_id: UUID
    commit: str
    ref: str | None
    completed_at: datetime
    tests: int
    is_older: bool


def with_previous(
    uow: UnitOfWork, job_id: UUID, viewer: Account | None, policy: Policy, *, asker: UUID, now: datetime
) -> tuple[Job, OtherCommit | None]:
    """An analysis, and that of the last earlier commit once it has completed; notes the view of its result.

    asker: as of read_jobs.job.  Raises: NotFound.
    """
    with uow.begin() as tx:
        accepted = check_visible(tx, job_id, viewer, Service.ANALYSIS)
        asker, sees_all = (viewer.user_id, viewer.is_operator) if viewer else (asker, False)
        job = describe.accepted(tx, accepted, policy, asker=asker, sees_all=sees_all, now=now)
        record = analyses.find(tx, job_id) if job.status is Status.COMPLETED else None
        if record is None:
            return job, None
        codebases.viewed(tx, record.codebase_id, now=now)
        found = rows(tx, record, viewer, before=record.ordered_at, most=1)
    return job, _of_row(found[0], record) if found else None


def newest(
    uow: UnitOfWork, job_id: UUID, viewer: Account | None, *, prefix: str = "", now: datetime
) -> list[OtherCommit]:
    """The newest of them.  prefix: the beginning of the commit id.

    Raises: NotFound, Conflict while the analysis has not completed.
    """
    with uow.begin() as tx:
        record = check_completed(tx, job_id, viewer, now=now)
        found = rows(tx, record, viewer, prefix=prefix.lower(), most=MOST)
    return [_of_row(row, record) for row in found]


def rows(tx: Tx, record: AnalysisRow, viewer: Account | None, **narrowed: Any) -> list[OtherCommitRow]:
    """List the other commits that the viewer may see, newest first: rows of other_results.others, narrowed as there."""
    sees_all = viewer is not None and viewer.is_operator
    return other_results.others(tx, record, user_id=viewer.user_id if viewer else None, sees_all=sees_all, **narrowed)


def _of_row(row: OtherCommitRow, record: AnalysisRow) -> OtherCommit:
    is_older = (row.ordered_at, row.completed_at) < (record.ordered_at, record.completed_at)
    return OtherCommit(row.id, row.commit_sha, row.ref, row.completed_at, row.total_tests, is_older)
