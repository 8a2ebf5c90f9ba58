"""Follow many jobs at once, for those who look at them live."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from app.services.jobs import describe
from app.services.policy import Policy
from app.store import change_stamps
from app.store.unit_of_work import UnitOfWork

#: What a job's row looked like: changes whenever its description may have changed.
Stamp = tuple[object, ...]


def stamps(uow: UnitOfWork, job_ids: Collection[UUID]) -> dict[UUID, Stamp]:
    """One statement for all of them."""
    with uow.begin() as tx:
        return {row.job_id: (row.event_id, row.status, row.progress) for row in change_stamps.of(tx, job_ids)}


def snapshot(
    uow: UnitOfWork, job_id: UUID, policy: Policy, *, asker: UUID | None = None, now: datetime
) -> tuple[int, dict[str, Any]]:
    """The id of a job's newest event, and the job; the caller has checked who may see it.

    asker: whose bill it tells, None where many read the same answer.  Raises: NotFound.
    """
    with uow.begin() as tx:
        newest = change_stamps.of(tx, [job_id])[0].event_id
        return int(newest or 0), describe.job(tx, job_id, policy, asker=asker, now=now)
