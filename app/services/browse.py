"""Read jobs and results: one job, its tests, its timeline, a user's history, a repository."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.repositories import Repository
from app.errors import Conflict, InvalidInput, NotFound
from app.services import describe
from app.services.policy import Policy
from app.store import analyses, codebases, events, inventories, requests
from app.store.inventories import TestFilter
from app.store.unit_of_work import Tx, UnitOfWork
from app.store.users import Account

PAGE, MOST = 100, 1000  # rows of a page: by default, at most


def job(uow: UnitOfWork, job_id: UUID, viewer: Account | None, policy: Policy, *, now: datetime) -> dict[str, Any]:
    """The contract's Job.  Raises: NotFound, also for what the viewer may not see."""
    with uow.begin() as tx:
        _check_visible(tx, job_id, viewer)
        return describe.job(tx, job_id, policy, now=now)


def tests(
    uow: UnitOfWork,
    job_id: UUID,
    viewer: Account | None,
    wanted: TestFilter,
    *,
    cursor: str | None = None,
    limit: int = PAGE,
    now: datetime,
) -> tuple[list[dict[str, Any]], str | None]:
    """A page of tests by path and line, and the cursor of the next one.

    Raises: NotFound, Conflict while the analysis is not completed, InvalidInput for a broken cursor.
    """
    with uow.begin() as tx:
        _check_visible(tx, job_id, viewer)
        record = analyses.find(tx, job_id)
        if record is None or record.status != "completed":
            raise Conflict(
                "The analysis has no result yet"
                if record is None or record.status == "running"
                else f"The analysis {record.status}, so it has no tests"
            )
        codebases.viewed(tx, record.codebase_id, now=now)
        rows = inventories.tests(tx, job_id, wanted, after=_read_cursor(cursor), most=limit + 1)
    page = [{"file": row.path, **row.test} for row in rows[:limit]]
    following = f"{rows[limit - 1].ordinal}.{rows[limit - 1].position}" if len(rows) > limit else None
    return page, base64.urlsafe_b64encode(following.encode()).decode() if following else None


def skipped_files(uow: UnitOfWork, job_id: UUID, viewer: Account | None) -> list[dict[str, Any]]:
    """Files that could not be read: path, reason.  Raises: NotFound."""
    with uow.begin() as tx:
        _check_visible(tx, job_id, viewer)
        return [dict(row) for row in inventories.skipped(tx, job_id)]


def timeline(uow: UnitOfWork, job_id: UUID, viewer: Account | None) -> list[dict[str, Any]]:
    """Every event of a job: id, at, event, facts.  Raises: NotFound."""
    with uow.begin() as tx:
        _check_visible(tx, job_id, viewer)
        return [dict(row) for row in events.timeline(tx, job_id)]


def history(
    uow: UnitOfWork, user_id: UUID, policy: Policy, *, before: int | None = None, limit: int = 50, now: datetime
) -> tuple[list[dict[str, Any]], int | None]:
    """The user's jobs, newest first, and where the next page starts."""
    with uow.begin() as tx:
        rows = requests.history(tx, user_id, before=before, most=limit + 1)
        jobs = [describe.job(tx, row.job_id, policy, now=now) for row in rows[:limit]]
    return jobs, rows[limit - 1].id if len(rows) > limit else None


def repository(uow: UnitOfWork, where: Repository, policy: Policy, *, now: datetime) -> dict[str, Any]:
    """A public repository with its newest completed analyses.  Raises: NotFound."""
    with uow.begin() as tx:
        codebase = codebases.find(tx, where)
        if codebase is None or codebase.is_private:
            raise NotFound("No analysis of such a repository")
        codebases.viewed(tx, codebase.codebase_id, now=now)
        newest = [
            describe.job(tx, row.id, policy, now=now) for row in analyses.newest(tx, codebase.codebase_id, most=20)
        ]
    return {
        "host": codebase.repository.host,
        "owner": codebase.repository.owner,
        "name": codebase.repository.name,
        "url": codebase.repository.url,
        "newest": newest[0] if newest else None,
        "history": newest,
    }


def _check_visible(tx: Tx, job_id: UUID, viewer: Account | None) -> None:
    accepted = requests.accepted(tx, job_id)
    if accepted is None:
        raise NotFound("No such job")
    if not accepted.is_private or (viewer and viewer.is_operator):
        return
    if viewer is None or not requests.asked(tx, job_id, viewer.user_id):
        raise NotFound("No such job")


def _read_cursor(cursor: str | None) -> tuple[int, int]:
    if not cursor:
        return 0, 0
    try:
        ordinal, position = base64.urlsafe_b64decode(cursor.encode()).decode().split(".")
        return int(ordinal), int(position)
    except (ValueError, binascii.Error) as error:
        raise InvalidInput(
            "The cursor is not one of ours", errors=[{"pointer": "/cursor", "detail": "allowed is `next` of a page"}]
        ) from error
