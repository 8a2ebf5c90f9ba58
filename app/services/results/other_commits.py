"""Find the inventories that one can be compared with: those of other commits of its repository."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.services.jobs.visibility import check_completed
from app.store import analyses
from app.store.unit_of_work import Tx, UnitOfWork
from app.store.users import Account

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


def previous(uow: UnitOfWork, job_id: UUID, viewer: Account | None, *, now: datetime) -> OtherCommit | None:
    """The analysis of the last earlier commit.  Raises: NotFound, Conflict while the analysis has not completed."""
    with uow.begin() as tx:
        record = check_completed(tx, job_id, viewer, now=now)
        rows = _others(tx, record, viewer, before=record.ordered_at, most=1)
    return _of_row(rows[0], record) if rows else None


def newest(
    uow: UnitOfWork, job_id: UUID, viewer: Account | None, *, prefix: str = "", now: datetime
) -> list[OtherCommit]:
    """The newest of them.  prefix: the beginning of the commit id.  Raises: as `previous`."""
    with uow.begin() as tx:
        record = check_completed(tx, job_id, viewer, now=now)
        rows = _others(tx, record, viewer, prefix=prefix.lower(), most=MOST)
    return [_of_row(row, record) for row in rows]


def _others(tx: Tx, record: Row[Any], viewer: Account | None, **narrowed: Any) -> list[Row[Any]]:
    sees_all = viewer is not None and viewer.is_operator
    return analyses.others(tx, record, user_id=viewer.user_id if viewer else None, sees_all=sees_all, **narrowed)


def _of_row(row: Row[Any], record: Row[Any]) -> OtherCommit:
    is_older = (row.ordered_at, row.completed_at) < (record.ordered_at, record.completed_at)
    return OtherCommit(row.id, row.commit_sha, row.ref, row.completed_at, row.total_tests, is_older)
