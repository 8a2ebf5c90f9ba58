"""Read jobs: one job, its timeline, a user's history."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.domain.jobs import Job, JobEvent
from app.domain.queues import Service
from app.services.jobs import describe
from app.services.jobs.visibility import check_visible
from app.services.policy import Policy
from app.store.accounts.users import Account
from app.store.core.reading import read_completed
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.jobs import events, records, requests
from app.store.jobs.requests import AcceptedRow


class _Chosen(NamedTuple):
    """The jobs of a page, with their requests.  completed: which a replica may describe; others: by the primary."""

    job_ids: Sequence[UUID]
    requests: Mapping[UUID, AcceptedRow]
    completed: Collection[UUID]
    others: dict[UUID, Job]
    next: int | None


def job(
    uow: UnitOfWork,
    job_id: UUID,
    viewer: Account | None,
    policy: Policy,
    *,
    asker: UUID | None = None,
    service: Service | None = Service.ANALYSIS,
    now: datetime,
) -> Job:
    """A job.  asker: whose bill is shown, None if the viewer has no personal account.

    service: which the job must belong to, None for any.  Raises: NotFound, also if the viewer may not see the job.
    """
    asker = viewer.user_id if viewer else asker
    with uow.begin() as tx:
        accepted = check_visible(tx, job_id, viewer, service)
        sees_all = viewer is not None and viewer.is_operator
        return describe.accepted(tx, accepted, policy, asker=asker, sees_all=sees_all, now=now)


def timeline(uow: UnitOfWork, job_id: UUID, viewer: Account | None, *, asker: UUID | None = None) -> list[JobEvent]:
    """Every event of a job, without other users' bills, tiers, queues and limits.  asker: as of `job`.

    Raises: NotFound.
    """
    asker = viewer.user_id if viewer else asker
    with uow.begin() as tx:
        accepted = check_visible(tx, job_id, viewer)
        is_payer = asker is not None and accepted.user_id == asker
        sees_all = viewer is not None and viewer.is_operator
        return [JobEvent(*row) for row in events.timeline(tx, job_id, with_bill=is_payer, with_lines=sees_all)]


def history(
    uow: UnitOfWork, user_id: UUID, policy: Policy, *, before: int | None = None, limit: int = 50, now: datetime
) -> tuple[list[Job], int | None]:
    """The user's jobs, newest first, and where the next page starts."""

    def described(tx: Tx, every: Mapping[UUID, AcceptedRow], job_ids: Collection[UUID]) -> dict[UUID, Job]:
        return describe.accepted_each(tx, every, job_ids, policy, asker=user_id, now=now)

    def check(tx: Tx) -> _Chosen:
        rows = requests.history(tx, user_id, before=before, most=limit + 1)
        chosen = [row.job_id for row in rows[:limit]]
        following = rows[limit - 1].id if len(rows) > limit else None
        every = requests.accepted_each(tx, chosen)
        if uow.replica is None:
            return _Chosen(chosen, every, chosen, {}, following)
        completed = records.completed(tx, chosen)
        others = described(tx, every, [one for one in chosen if one not in completed])
        return _Chosen(chosen, every, completed, others, following)

    def fetch(tx: Tx, chosen: _Chosen) -> tuple[list[Job], int | None]:
        found = described(tx, chosen.requests, chosen.completed) | chosen.others
        return [found[one] for one in chosen.job_ids if one in found], chosen.next

    return read_completed(uow, check, lambda chosen: chosen.completed, fetch, user_id=user_id)
