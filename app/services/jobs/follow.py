"""Follow many jobs at once, for live pages."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from app.domain.jobs import Job
from app.services.jobs import describe, disclose
from app.services.jobs.disclose import OwnRequest, Reader
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork
from app.store.jobs import change_stamps, requests

#: A stamp of a job's row, which changes whenever its description may have changed.
Stamp = tuple[object, ...]


def stamps(uow: UnitOfWork, job_ids: Collection[UUID]) -> dict[UUID, Stamp]:
    """Read the stamps of all jobs with one statement."""
    with uow.once() as tx:
        return {row.job_id: (row.event_id, row.status, row.progress) for row in change_stamps.of(tx, job_ids)}


def snapshot(uow: UnitOfWork, job_id: UUID, policy: Policy, *, reader: Reader, now: datetime) -> tuple[int, Job]:
    """The id of a job's newest event, and the job; the caller has checked the visibility.

    reader: one who sees all if the caller serves several readers.  Raises: NotFound.
    """
    with uow.begin() as tx:
        newest = change_stamps.of(tx, [job_id])[0].event_id
        job = describe.job(tx, job_id, policy, asker=reader.user_id, sees_all=reader.sees_all, now=now)
        return int(newest or 0), job


def own_request(uow: UnitOfWork, job_id: UUID, reader: Reader) -> OwnRequest | None:
    """How the reader asked for a job; None if the reader did not, or sees all."""
    with uow.begin() as tx:
        return disclose.own_requests(tx, requests.accepted_each(tx, [job_id]), reader).get(job_id)
