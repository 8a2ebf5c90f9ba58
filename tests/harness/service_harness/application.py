"""The application in this process, read by a client, with the worker's side of its jobs."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from apiflask import APIFlask
from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.domain.lifecycle import Delivery, Failure, Outcome
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.errors import CommitNotFound, GitHostUnreachable, RepositoryNotFound
from app.services.accounts import accounts, sessions, tokens
from app.services.analyses import finish
from app.services.jobs import fail, start
from app.services.policy import Policy
from app.services.specifications import specify
from app.settings import Settings
from app.specview.generator import Generator
from app.store.analyses.inventories import FileRow
from app.store.core.unit_of_work import UnitOfWork
from service_harness.deliveries import lease, rescheduler
from service_harness.inventories import inventory, summary
from service_harness.scribe import Scribe

POLICY = Policy("1.0.0+test")
SETTINGS = Settings()


def resolve(repository: Repository, ref: str | None, commit: str | None) -> tuple[str, str | None]:
    """As app.adapters.git_sources.resolve_commit, without a network: every repository exists but `missing` and `unreachable`."""
    if repository.name == "missing":
        raise RepositoryNotFound("There is no such repository.")
    if repository.name == "unreachable":
        raise GitHostUnreachable("The host github.com cannot be reached right now.", retry_after=30)
    if ref == "missing":
        raise CommitNotFound("The repository has no such ref.")
    return commit or commit_of(repository.name, ref or "main"), ref or "main"


def commit_of(name: str, ref: str = "main") -> str:
    """The commit `resolve` gives."""
    return hashlib.sha1(f"{name}@{ref}".encode(), usedforsecurity=False).hexdigest()


@dataclass
class Web:
    """A browser or program on the application, and the worker's side of its jobs."""

    app: APIFlask
    uow: UnitOfWork
    client: FlaskClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = self.app.test_client()

    def user(self, tier: Tier = Tier.FREE, *, is_operator: bool = False) -> accounts.Account:
        email = f"{uuid4().hex[:12]}@example.org"
        return accounts.add_user(self.uow, email, tier=tier, is_operator=is_operator, actor="test", now=now())

    def token(self, user_id: UUID | None = None, *scopes: str) -> dict[str, str]:
        """The header of a new token, of a new user unless given."""
        owner = user_id or self.user().user_id
        made = tokens.add_token(self.uow, owner, scopes=scopes or ("read", "write"), now=now())
        return {"Authorization": f"Bearer {made.secret}"}

    def submit(self, name: str = "shop", headers: dict[str, str] | None = None, **members: Any) -> TestResponse:
        body = {"repository": f"acme/{name}", **members}
        return self.client.post("/api/v1/analyses", json=body, headers=headers)

    def started(self, job_id: str, service: Service = Service.ANALYSIS) -> Delivery:
        """Lease the job's message as a worker would, and start."""
        with self.uow.begin() as tx:
            leased = lease(tx, UUID(job_id), seconds=60)
        snooze = rescheduler(leased.delivery, "snooze")
        outcome = start.start(
            self.uow, leased.delivery, service, leased.user_id, POLICY, snooze=snooze, roll=0.0, now=now()
        )
        assert outcome in (Outcome.STARTED, Outcome.SNOOZED)
        return leased.delivery

    def completed(self, job_id: str, files: list[FileRow] | None = None) -> None:
        """Run the job to its end."""
        self.finished(self.started(job_id), files)

    def finished(self, delivery: Delivery, files: list[FileRow] | None = None) -> None:
        """End a job that was started."""
        files = inventory() if files is None else files
        listing = finish.save(self.uow, files, POLICY)
        owner = self._owner(str(delivery.job_id))
        done = finish.finish(self.uow, delivery, owner, listing, summary(files), now=now())
        assert done is Outcome.COMPLETED

    def written(self, job_id: str, generator: Generator | None = None) -> None:
        """Write a specification to its end."""
        delivery = self.started(job_id, Service.SPECVIEW)
        done = specify.specify(
            self.uow,
            delivery,
            self._owner(job_id),
            generator or Scribe(),
            POLICY,
            checkpoint=lambda *_: None,
            now=now(),
        )
        assert done is Outcome.COMPLETED

    def failed(
        self,
        job_id: str,
        code: str = "too_large",
        message: str = "The repository is larger than 2 GB.",
        service: Service = Service.ANALYSIS,
    ) -> None:
        delivery = self.started(job_id, service)
        failure = Failure(code, message)
        fail.fail(
            self.uow,
            delivery,
            service,
            self._owner(job_id),
            failure,
            retry=rescheduler(delivery, "retry"),
            roll=0.0,
            now=now(),
        )

    def finish_cancelled(self, delivery: Delivery) -> None:
        """What a worker does that was asked to stop."""
        ended = fail.stop(self.uow, delivery, Service.ANALYSIS, self._owner(str(delivery.job_id)), now=now())
        assert ended is Outcome.CANCELLED

    def sign_in(self, account: accounts.Account) -> None:
        """Spend a sign-in link through the pages."""
        secret = sessions.sign_in_link(self.uow, account.user_id, actor="cli:test", now=now())
        page = self.client.get(f"/sign-in?token={secret}")
        answer = self.client.post("/sign-in", data={"token": secret, "csrf_token": csrf(page)})
        assert answer.status_code == 303, answer.text

    def post(self, path: str, page: str = "/", **fields: str) -> TestResponse:
        """Send a form with the token of a page."""
        return self.client.post(path, data={"csrf_token": csrf(self.client.get(page)), **fields})

    def _owner(self, job_id: str) -> UUID:
        with self.uow.begin() as tx:
            query = "SELECT user_id FROM analysis_requests WHERE job_id = :id AND role = 'payer'"
            owner: UUID = tx.run(text(query), id=job_id).scalar_one()
        return owner


def csrf(page: TestResponse) -> str:
    """The token in a page's form."""
    marker = 'name="csrf_token" value="'
    assert marker in page.text, page.text[:2000]
    return page.text.split(marker)[1].split('"')[0]


def without_csrf(page: str) -> str:
    """A page without the tokens in its forms, which another second makes anew."""
    return re.sub(r'name="csrf_token" value="[^"]*"', "", page)


def now() -> datetime:
    return datetime.now(UTC)
