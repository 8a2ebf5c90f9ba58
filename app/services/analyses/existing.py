"""Find what already exists for a commit, before it is submitted."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.domain.repositories import Repository
from app.services.jobs import visibility
from app.services.policy import Policy
from app.store.accounts.users import Account
from app.store.analyses import accept_lookup
from app.store.core.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Existing:
    """The job that a submission would lead to without a bill.  status: completed, running or failed."""

    job_id: UUID
    status: str


def of_commit(
    uow: UnitOfWork, account: Account, repository: Repository, commit: str, policy: Policy
) -> Existing | None:
    """A result by this parser version, a job under way, or the failure of the last one; None: it would be a new job.

    Nothing is locked, so that the answer may be another one when the commit is submitted.
    """
    with uow.begin() as tx:
        (found,) = accept_lookup.look_each(tx, account.user_id, [(repository, commit)], policy.parser_version)
        known = (("running", found.running), ("completed", found.completed), ("failed", found.failed))
        first = next((Existing(job_id, status) for status, job_id in known if job_id), None)
        if (
            first
            and found.codebase
            and not visibility.is_reachable(tx, found.codebase, first.job_id, account, sees_all=account.is_operator)
        ):
            return None
    return first
