"""A submission of an analysis, once the user is locked and the repository is known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.queues import Service
from app.domain.repositories import Repository
from app.services.jobs.submission import Submission
from app.services.policy import Policy
from app.store.accounts.users import Payer
from app.store.repositories.codebases import Codebase

ANALYSIS = Service.ANALYSIS.event_type


@dataclass(frozen=True, slots=True)
class Wanted:
    """A submission whose commit is resolved.

    retry: start again if the last run failed; default_branch: the branch of HEAD, if it was looked up; named: the host
    named the commit just now, as the newest one of `ref`; looked_at: by the database, before the host was asked;
    sees_all: whether whoever asks may see every job.
    """

    repository: Repository
    commit: str
    ref: str | None = None
    retry: bool = False
    default_branch: str | None = None
    named: bool = False
    looked_at: datetime | None = None
    sees_all: bool = False


@dataclass(frozen=True, slots=True)
class AnalysisSubmission(Submission):
    """A submission of an analysis."""

    wanted: Wanted


def submission_of(
    account: Payer, codebase: Codebase, wanted: Wanted, policy: Policy, *, now: datetime
) -> AnalysisSubmission:
    """Compose the user's submission.  account: its row is locked."""
    commit = wanted.commit
    arguments, service = arguments_of(codebase, commit, account.user_id), Service.ANALYSIS
    key = codebase.repository.unique_key(commit)
    return AnalysisSubmission(
        service, account, codebase, commit, wanted.ref, service.task, arguments, key, policy, now, wanted
    )


def arguments_of(codebase: Codebase, commit: str, user_id: UUID | None) -> dict[str, str | None]:
    """The arguments of the task.  user_id: None for the schedule."""
    where = codebase.repository
    user = str(user_id) if user_id else None
    return {"host": where.host, "owner": where.owner, "name": where.name, "commit": commit, "user_id": user}
