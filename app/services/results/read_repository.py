"""Read a public repository with its newest analyses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.domain.jobs import Job
from app.domain.lifecycle import Status
from app.domain.repositories import Repository
from app.errors import NotFound
from app.services.jobs import describe
from app.services.policy import Policy
from app.store.analyses import analyses
from app.store.core.unit_of_work import UnitOfWork
from app.store.repositories import codebases

MOST = 20


@dataclass(frozen=True, slots=True)
class FoundRepository:
    """A repository and its newest completed analyses, newest first, up to MOST."""

    repository: Repository
    analyses: list[Job]

    @property
    def newest(self) -> Job | None:
        """The newest analysis; None before the first."""
        return self.analyses[0] if self.analyses else None


def read_repository(uow: UnitOfWork, where: Repository, policy: Policy, *, now: datetime) -> FoundRepository:
    """A public repository with its newest completed analyses.  Raises: NotFound."""
    with uow.begin() as tx:
        codebase = codebases.find(tx, where)
        if codebase is None or codebase.is_private:
            raise NotFound("This repository has no analysis")
        codebases.viewed(tx, codebase.codebase_id, now=now)
        newest = analyses.newest(tx, codebase.codebase_id, most=MOST)
        found = describe.jobs(tx, newest, policy, asker=None, now=now)
    # a record that was pruned since it was found: its job would be described as one that was accepted only now
    return FoundRepository(codebase.repository, [job for job in found.values() if job.status is Status.COMPLETED])
