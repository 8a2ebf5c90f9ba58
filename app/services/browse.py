"""Read jobs: one job, its timeline, a user's history, a repository."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.domain.queues import Service
from app.domain.repositories import Repository
from app.errors import NotFound
from app.services import describe
from app.services.policy import Policy
from app.store import analyses, codebases, events, requests
from app.store.unit_of_work import Tx, UnitOfWork
from app.store.users import Account


def job(
    uow: UnitOfWork,
    job_id: UUID,
    viewer: Account | None,
    policy: Policy,
    *,
    asker: UUID | None = None,
    service: Service | None = Service.ANALYSIS,
    now: datetime,
) -> dict[str, Any]:
    """The contract's Job.  asker: whose bill it tells, where the viewer has no account of a person.

    service: whose job it must be, None for any.

    Raises: NotFound, also for what the viewer may not see.
    """
    asker = viewer.user_id if viewer else asker
    with uow.begin() as tx:
        check_visible(tx, job_id, viewer, service)
        return describe.job(tx, job_id, policy, asker=asker, now=now)


def timeline(
    uow: UnitOfWork, job_id: UUID, viewer: Account | None, *, asker: UUID | None = None
) -> list[dict[str, Any]]:
    """Every event of a job: id, at, event, facts; without the bill of somebody else.  asker: as of `job`.

    Raises: NotFound.
    """
    asker = viewer.user_id if viewer else asker
    with uow.begin() as tx:
        accepted = check_visible(tx, job_id, viewer)
        is_payer = asker is not None and accepted.user_id == asker
        return [dict(row) for row in events.timeline(tx, job_id, with_bill=is_payer)]


def history(
    uow: UnitOfWork, user_id: UUID, policy: Policy, *, before: int | None = None, limit: int = 50, now: datetime
) -> tuple[list[dict[str, Any]], int | None]:
    """The user's jobs, newest first, and where the next page starts."""
    with uow.begin() as tx:
        rows = requests.history(tx, user_id, before=before, most=limit + 1)
        jobs = [describe.job(tx, row.job_id, policy, asker=user_id, now=now) for row in rows[:limit]]
    return jobs, rows[limit - 1].id if len(rows) > limit else None


def repository(uow: UnitOfWork, where: Repository, policy: Policy, *, now: datetime) -> dict[str, Any]:
    """A public repository with its newest completed analyses.  Raises: NotFound."""
    with uow.begin() as tx:
        codebase = codebases.find(tx, where)
        if codebase is None or codebase.is_private:
            raise NotFound("No analysis of such a repository")
        codebases.viewed(tx, codebase.codebase_id, now=now)
        newest = [
            describe.job(tx, row.id, policy, asker=None, now=now)
            for row in analyses.newest(tx, codebase.codebase_id, most=20)
        ]
    return {
        "host": codebase.repository.host,
        "owner": codebase.repository.owner,
        "name": codebase.repository.name,
        "url": codebase.repository.url,
        "newest": newest[0] if newest else None,
        "history": newest,
    }


def check_visible(tx: Tx, job_id: UUID, viewer: Account | None, service: Service | None = None) -> Row[Any]:
    """How the job was accepted, for whoever may see it; a specification is its owner's alone.

    service: whose job it must be, None for any.  Raises: NotFound, which does not tell whether there is one.
    """
    accepted = requests.accepted(tx, job_id)
    if accepted is None or (service and accepted.service != service):
        raise NotFound("No such job")
    is_private = accepted.is_private or accepted.service == Service.SPECVIEW
    if not is_private or (viewer and viewer.is_operator):
        return accepted
    if viewer is None or not requests.asked(tx, job_id, viewer.user_id):
        raise NotFound("No such job")
    return accepted
