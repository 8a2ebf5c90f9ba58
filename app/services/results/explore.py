"""Find public repositories that were analysed here."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.repositories import LOCAL_HOST, Repository
from app.services.policy import Policy
from app.services.results.newest_result import NewestResult
from app.store.accounts.users import Account
from app.store.core.reading import read_current
from app.store.core.unit_of_work import UnitOfWork
from app.store.results import explore

MOST = 50


@dataclass(frozen=True, slots=True)
class ExploredRepository:
    """A repository and its newest result, the same as on its page."""

    repository: Repository
    newest: NewestResult


def find(uow: UnitOfWork, viewer: Account | None, part: str, policy: Policy) -> list[ExploredRepository]:
    """Public repositories, newest result first, at most MOST.  part: letters of the address; empty for all.

    The names of repositories on the service's own machine are shown to people with an account only.
    """
    is_known = viewer is not None and not viewer.is_anonymous
    letters = part.strip().lower()
    rows = read_current(uow, lambda tx: explore.find(tx, letters, local=LOCAL_HOST, with_local=is_known, most=MOST))
    return [
        ExploredRepository(
            Repository(row.host, row.owner, row.name),
            NewestResult.of(policy, row.analysis_id, row.commit_sha, row.completed_at, row.parser_version, row.summary),
        )
        for row in rows
    ]
