"""Read a public repository with its newest analyses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.jobs import Job
from app.domain.lifecycle import Status
from app.domain.repositories import Repository
from app.errors import NotFound
from app.services.jobs import describe
from app.services.policy import Policy
from app.store.analyses import analyses
from app.store.core.reading import read_completed
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.jobs import requests
from app.store.jobs.requests import AcceptedRow
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

    def check(tx: Tx) -> tuple[Repository, dict[UUID, AcceptedRow], list[UUID]]:
        codebase = codebases.find(tx, where)
        if codebase is None or codebase.is_private:
            raise NotFound("This repository has no analysis")
        codebases.viewed(tx, codebase.codebase_id, now=now)
        newest = analyses.newest(tx, codebase.codebase_id, most=MOST)
        return codebase.repository, requests.accepted_each(tx, newest), newest

    def fetch(tx: Tx, checked: tuple[Repository, dict[UUID, AcceptedRow], list[UUID]]) -> FoundRepository:
        repository, every, newest = checked
        found = describe.accepted_each(tx, every, newest, policy, asker=None, now=now)
        # a record that was pruned since it was found: its job would be described as one that was accepted only now
        return FoundRepository(repository, [job for job in found.values() if job.status is Status.COMPLETED])

    return read_completed(uow, check, lambda checked: checked[2], fetch)
