"""Read a public repository with its newest analyses."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from app.domain.repositories import Repository
from app.errors import NotFound
from app.services.jobs import describe
from app.services.policy import Policy
from app.store import analyses, codebases
from app.store.unit_of_work import UnitOfWork


def read_repository(uow: UnitOfWork, where: Repository, policy: Policy, *, now: datetime) -> dict[str, Any]:
    """A public repository with its newest completed analyses.  Raises: NotFound."""
    with uow.begin() as tx:
        codebase = codebases.find(tx, where)
        if codebase is None or codebase.is_private:
            raise NotFound("This repository has no analysis")
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
