"""A submission to either service, once the user is locked and the repository is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.queues import Service, select_queue
from app.services.policy import Policy
from app.store.accounts.users import Payer
from app.store.analyses.codebases import Codebase
from app.store.core.unit_of_work import JobMessage
from app.store.jobs.requests import Request


@dataclass(frozen=True, slots=True)
class Submission:
    """A request of one user to one service at one moment, for a commit.

    account: its row is locked; task, arguments: what is published; unique_key: of the message.
    """

    service: Service
    account: Payer
    codebase: Codebase
    commit: str
    ref: str | None
    task: str
    arguments: Mapping[str, str | None]
    unique_key: str
    policy: Policy
    now: datetime

    def request(self, job_id: UUID, role: str) -> Request:
        """The user's request of a job.  role: payer, joined or cached."""
        account = self.account
        trigger = "anonymous" if account.is_anonymous else "user"
        queue = select_queue(self.service, account.tier)
        return Request(
            job_id, account.user_id, role, self.codebase, self.commit, self.ref, trigger, queue, account.tier,
            self.now, account.plan.retention_days, service=self.service,
        )  # fmt: skip

    def message(self, job_id: UUID, queue: str) -> JobMessage:
        """The message of a job.  It contains no limit, because that is read when the job starts (docs/adr/0003).

        It has the user's share of the queue, and how many of their jobs may be ready at once (docs/adr/0026).
        """
        account = self.account
        return JobMessage(
            job_id=job_id,
            task=self.task,
            queue=queue,
            kwargs=self.arguments,
            user_id=account.user_id,
            unique_key=self.unique_key,
            step=account.step(self.service),
            most_ready=self.policy.fairness.most_ready(account.plan, account.own_slot_limit),
        )
