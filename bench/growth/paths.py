"""The ways through the service that are timed, each with other jobs, users and repositories in every turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from service_harness.application import POLICY, SETTINGS, Web, resolve
from sqlalchemy import text

from app.domain.plans import Tier
from app.store.core.unit_of_work import UnitOfWork
from app.web import create_app
from app.web.core.wiring import WebWiring
from bench.accept.rate import SECRET

#: rows that are spread over the whole table, as many as a way needs turns
_JOBS = text("""
    SELECT job_id, user_id, codebase_id FROM analysis_requests
     WHERE id IN (SELECT CAST(n * (SELECT max(id) FROM analysis_requests) / :turns AS bigint)
                    FROM generate_series(1, :turns) n)""")
_REPOSITORIES = text("SELECT id, host, owner, name FROM codebases WHERE id = ANY (CAST(:ids AS uuid[]))")


@dataclass
class Ways:
    """A database, a browser and a program on it.  turns: how often each way is taken."""

    uow: UnitOfWork
    turns: int
    web: Web = field(init=False)
    operator: dict[str, str] = field(init=False)
    jobs: list[Any] = field(init=False)
    repositories: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        """Make an operator, and choose the rows."""
        self.web = Web(create_app(WebWiring(SETTINGS, self.uow, POLICY, resolve, SECRET)), self.uow)
        account = self.web.user(Tier.ENTERPRISE, is_operator=True)
        self.operator = self.web.token(account.user_id, "read", "write", "operator")
        self.web.sign_in(account)
        with self.uow.begin() as tx:
            self.jobs = tx.run(_JOBS, turns=self.turns).all()
            wanted = [job.codebase_id for job in self.jobs]
            self.repositories = tx.run(_REPOSITORIES, ids=wanted).all()

    def all(self) -> dict[str, Callable[[int], float]]:
        """Name -> a way, by the number of its turn; milliseconds."""
        job, repository = self._job, self._repository
        return {
            "accept": self.accept,
            "start and finish": self.run_one,
            "job, JSON": lambda turn: self.get(f"/api/v1/analyses/{job(turn)}"),
            "result, page": lambda turn: self.get(f"/analyses/{job(turn)}"),
            "100 tests, JSON": lambda turn: self.get(f"/api/v1/analyses/{job(turn)}/tests?limit=100"),
            "search in a result": lambda turn: self.get(f"/analyses/{job(turn)}?q=test_{turn % 10}a"),
            "repository, page": lambda turn: self.get(f"/repositories/{repository(turn)}"),
            "history of a repository": lambda turn: self.get(f"/api/v1/repositories/{repository(turn)}/history"),
            "own history": self.history,
            "explore": lambda _: self.get("/explore"),
            "explore, search": lambda turn: self.get(f"/explore?q=name{turn}7"),
            "operator": lambda _: self.get("/operator"),
            "operator: jobs of a repository": lambda turn: self.get(f"/operator/jobs?repository={repository(turn)}"),
            "operator: failures": lambda _: self.get("/api/v1/operator/failures"),
            "operator: tenants": lambda _: self.get("/api/v1/operator/tenants"),
            "operator: fairness": lambda _: self.get("/api/v1/operator/fairness"),
            "metrics": lambda _: self.get("/metrics"),
        }

    def _job(self, turn: int) -> UUID:
        found: UUID = self.jobs[turn % len(self.jobs)].job_id
        return found

    def _repository(self, turn: int) -> str:
        one = self.repositories[turn % len(self.repositories)]
        return f"{one.host}/{one.owner}/{one.name}"

    def get(self, path: str, headers: dict[str, str] | None = None) -> float:
        """Read one page.  The ones that do not answer say so."""
        began = time.perf_counter()
        answer = self.web.client.get(path, headers=headers or self.operator)
        took = 1000 * (time.perf_counter() - began)
        if answer.status_code != 200:
            raise RuntimeError(f"{path}: {answer.status_code} {answer.get_data(as_text=True)[:300]}")
        return took

    def history(self, turn: int) -> float:
        """Read what a user asked for."""
        headers = self.web.token(self.jobs[turn % len(self.jobs)].user_id)
        return self.get("/api/v1/me/history", headers)

    def accept(self, turn: int) -> float:
        """Submit a commit that nobody has."""
        headers = self.web.token(self.jobs[turn % len(self.jobs)].user_id)
        began = time.perf_counter()
        answer = self.web.submit(uuid4().hex, headers)
        took = 1000 * (time.perf_counter() - began)
        if answer.status_code != 202:
            raise RuntimeError(f"{answer.status_code} {answer.get_data(as_text=True)[:300]}")
        return took

    def run_one(self, turn: int) -> float:
        """Take the steps of a worker on a new job: claim, start, store three files, finish."""
        headers = self.web.token(self.jobs[turn % len(self.jobs)].user_id)
        job_id = self.web.submit(uuid4().hex, headers).json["id"]
        began = time.perf_counter()
        self.web.completed(job_id)
        return 1000 * (time.perf_counter() - began)
