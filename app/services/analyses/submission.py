"""A submission of an analysis, once the user is locked and the repository is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.queues import Service, select_queue
from app.domain.repositories import Repository
from app.services.policy import Policy
from app.store.accounts.users import Payer
from app.store.analyses.codebases import Codebase
from app.store.core.unit_of_work import JobMessage
from app.store.jobs.requests import Request

ANALYSE = "tasks.analysis.analyse"

ANALYSIS = Service.ANALYSIS.event_type


@dataclass(frozen=True, slots=True)
class Wanted:
    """A submission whose commit is resolved.

    retry: start again if the last run failed; default_branch: the branch of HEAD, if it was looked up; named: the host
    named the commit just now, as the newest one of `ref`.
    """

    repository: Repository
    commit: str
    ref: str | None = None
    retry: bool = False
    default_branch: str | None = None
    named: bool = False


@dataclass(frozen=True, slots=True)
class Submission:
    """What one user wants of one repository at one moment.  account: its row is locked."""

    account: Payer
    codebase: Codebase
    wanted: Wanted
    policy: Policy
    now: datetime

    def request(self, job_id: UUID, role: str) -> Request:
        """The user's request of a job.  role: payer, joined or cached."""
        account, wanted = self.account, self.wanted
        trigger = "anonymous" if account.is_anonymous else "user"
        queue = select_queue(Service.ANALYSIS, account.tier)
        return Request(
            job_id, account.user_id, role, self.codebase, wanted.commit, wanted.ref, trigger, queue, account.tier,
            self.now, account.plan.retention_days,
        )  # fmt: skip

    def message(self, job_id: UUID, queue: str) -> JobMessage:
        """The message of a job.

        It has the user's share of the queue, and how many of their jobs may be ready at once (docs/adr/0026).
        """
        account = self.account
        message = message_for(job_id, self.codebase, self.wanted, queue=queue, user_id=account.user_id)
        ready = self.policy.fairness.most_ready(account.plan, account.own_slot_limit)
        return replace(message, step=account.step(Service.ANALYSIS), most_ready=ready)


def message_for(job_id: UUID, codebase: Codebase, wanted: Wanted, *, queue: str, user_id: UUID | None) -> JobMessage:
    """The message of an analysis.  It contains no limit, because that is read when the job starts (docs/adr/0003)."""
    where = codebase.repository
    return JobMessage(
        job_id=job_id,
        task=ANALYSE,
        queue=queue,
        kwargs={
            "host": where.host,
            "owner": where.owner,
            "name": where.name,
            "commit": wanted.commit,
            "user_id": str(user_id) if user_id else None,
        },
        user_id=user_id,
        unique_key=where.unique_key(wanted.commit),
    )
