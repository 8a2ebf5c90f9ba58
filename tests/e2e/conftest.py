"""The whole system on one database: accepts in this process, work in real Celery workers."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from durable_harness.waiting import wait_for
from testlist import PARSER_VERSION, Source, resolve

from app.domain.plans import Tier
from app.domain.repositories import Repository
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.jobs import read_jobs
from app.services.policy import Policy
from app.web.jobs.job_json import job_json
from tests.conftest import World
from tests.nodes import LocalWorker, Nodes
from tests.services.busy import account

#: A repository that keeps a worker busy for some seconds: each file is parsed by rules that walk it whole.
SLOW_FILES = 600


@dataclass(frozen=True)
class System:
    """Submits real repositories and waits for what becomes of them."""

    world: World
    nodes: Nodes
    make_repository: Callable[..., Path]

    def submit(self, user_id: UUID, name: str = "shop", files: dict[str, str] | None = None) -> UUID:
        """Commit to a repository and ask for an analysis of the new commit."""
        path = self.make_repository(name, files)
        commit, _ = resolve(Source.local(path), None)
        wanted = Wanted(Repository("local", "-", name), commit)
        answer = submit(self.world.uow, user_id, wanted, self.world.policy, now=datetime.now(UTC))
        return answer.job.id

    def job(self, job_id: UUID) -> dict[str, object]:
        """As its payer is told of it."""
        payer = self.world.value(
            "SELECT user_id FROM analysis_requests WHERE job_id = :id AND role = 'payer'", id=job_id
        )
        viewer = account(self.world, payer) if isinstance(payer, UUID) else None
        now = datetime.now(UTC)
        return job_json(read_jobs.job(self.world.uow, job_id, viewer, self.world.policy, service=None, now=now))

    def wait(self, job_id: UUID, *statuses: str) -> dict[str, object]:
        """Until the job is in one of these states."""
        what = f"job {job_id} to be {' or '.join(statuses)}"
        wait_for(lambda: self.job(job_id)["status"] in statuses, what)
        return self.job(job_id)

    def stalling_worker(self, *queues: str, **options: Any) -> LocalWorker:
        """A worker in which an analysis of the repository `slow` waits for `go_on`."""
        return self.nodes.worker(*queues, app="tests.e2e.stalling_worker", GO_ON=str(self.nodes.go_on), **options)

    def go_on(self) -> None:
        """Let them end."""
        self.nodes.go_on.touch()

    def user(self, tier: Tier = Tier.FREE) -> UUID:
        return self.world.user(tier)


@pytest.fixture
def system(world: World, nodes: Nodes, repository: Callable[..., Path]) -> System:
    return System(replace(world, policy=Policy(PARSER_VERSION), now=datetime.now(UTC)), nodes, repository)


def slow_files(count: int = SLOW_FILES) -> dict[str, str]:
    """Files that take a worker some seconds together."""
    test = "def test_{0}_{1}() -> None:\n    assert sum(range({1})) >= 0\n\n\n"
    return {f"tests/test_{n}.py": "".join(test.format(n, i) for i in range(260)) for n in range(count)}


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
