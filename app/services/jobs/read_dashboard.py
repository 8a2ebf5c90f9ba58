"""Read what is under way for a user, and what ended last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.jobs import Job
from app.domain.lifecycle import Status
from app.services.jobs import describe
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork
from app.store.jobs import requests

MOST, ENDED = 20, 5  # jobs


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A user's jobs at one moment.

    running: oldest request first; waiting: those that have not started, or wait for their next attempt, in the same
    order; further: waiting jobs that are not listed; ended: newest first.
    """

    running: Sequence[Job]
    waiting: Sequence[Job]
    further: int
    ended: Sequence[Job]


def read_dashboard(uow: UnitOfWork, user_id: UUID, policy: Policy, *, now: datetime) -> Dashboard:
    """Up to MOST unfinished jobs, and the ENDED newest ones that ended, all described at once."""
    with uow.begin() as tx:
        unfinished, count = requests.unfinished(tx, user_id, most=MOST)
        recent = requests.ended(tx, user_id, most=ENDED)
        found = describe.jobs(tx, dict.fromkeys((*unfinished, *recent)), policy, asker=user_id, now=now)
    under_way = [found[one] for one in unfinished if one in found and not found[one].is_final]
    return Dashboard(
        [job for job in under_way if job.status is Status.RUNNING],
        [job for job in under_way if job.status is not Status.RUNNING],
        count - len(unfinished),
        [found[one] for one in recent if one in found and found[one].is_final],
    )
