"""The whole service as processes on one address of a database, and what a test asks of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from testlist import PARSER_VERSION

from app.domain.plans import Tier
from app.migrate import migrate
from app.services.accounts.tokens import add_token
from app.services.operations.audit import HOLDS, audit
from app.services.policy import Policy
from app.settings import load
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World, publishing
from tests.e2e.submitter import Submitter
from tests.e2e.webs import Web
from tests.nodes import ROOT, LocalProcess, Nodes

QUEUES = ("analysis_priority", "analysis_default", "specview_scheduled")
BILLS = "SELECT job_id::text AS job_id, count(*) AS bills FROM usage_events GROUP BY job_id"
UNFINISHED = "SELECT 1 FROM kombu_message m JOIN job_events e ON e.job_id::text = m.task_id LIMIT 1"
#: A submitter is not held up by the limit of one account.
OFTEN = {"RATE_LIMIT_PER_MINUTE": "1000000"}


@dataclass
class Service:
    """A web, a worker and a beat.  world: a look at their database; token: of a user who may run five jobs at once."""

    world: World
    nodes: Nodes
    token: str
    commits: Iterator[str]
    web: Web
    processes: list[LocalProcess]

    @classmethod
    @contextmanager
    def on(
        cls, url: str, folder: Path, repository: Callable[..., Path], *, seen_as: str | None = None, **settings: str
    ) -> Iterator[Service]:
        """Start everything on a migrated database.  seen_as: another address of it, for `world`."""
        world = world_of(seen_as or url)
        token = add_token(world.uow, world.user(Tier.ENTERPRISE), now=world.now).secret
        with Nodes.open(url, folder) as nodes:
            nodes.settings = OFTEN | settings
            made = cls(world, nodes, token, commits(repository), *started(nodes, token))
            try:
                yield made
            finally:
                made.world.uow.engine.dispose()

    def start(self) -> None:
        """Start everything."""
        self.web, self.processes = started(self.nodes, self.token)

    def stop(self) -> None:
        """Stop everything in an orderly way."""
        _stop(self.processes)

    def replace(self, **settings: str) -> None:
        """Start everything again with other settings, and then stop what still runs of before."""
        before = [process for process in self.processes if process.status == "running"]
        self.nodes.settings = OFTEN | settings
        self.start()
        _stop(before)

    def move(self, url: str) -> None:
        """From now on, everything is at another address."""
        self.world.uow.engine.dispose()
        self.world, self.nodes.database_url = world_of(url), url

    @contextmanager
    def traffic(self) -> Iterator[Submitter]:
        """A client that submits, until the block is left."""
        client = Submitter(lambda: self.web.url, self.token, self.commits)
        client.start()
        try:
            yield client
        finally:
            client.end()
            client.close()

    def fairlane(self, *arguments: str, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command with the settings of the service.  given: on its standard input."""
        argv, settings = [sys.executable, "-m", "app.cli", *arguments], self.nodes.environment(**env)
        return subprocess.run(argv, cwd=ROOT, env=settings, input=given, capture_output=True, text=True)

    def unknown(self, client: Submitter) -> list[str]:
        """The jobs of a client that `fairlane doctor` does not find."""
        log = "".join(f"202 {one.job_id}\n" for one in client.accepted)
        done = self.fairlane("doctor", "--json", "--ids", "-", given=log)
        assert done.stdout, done.stderr
        found = json.loads(done.stdout)
        assert found["looked_up"] == len(client.accepted)
        return list(found["jobs"])

    def bills(self) -> dict[str, int]:
        """How often each job was billed."""
        return {str(row["job_id"]): int(str(row["bills"])) for row in self.world.rows(BILLS)}

    def is_idle(self) -> bool:
        """Whether no job is unfinished."""
        return not self.world.rows(UNFINISHED)

    def broken(self) -> list[str]:
        """The invariants that do not hold."""
        return [f"{one.number} {one.rows}" for one in audit(self.world.uow) if one.status != HOLDS]


def _stop(processes: list[LocalProcess]) -> None:
    for process in processes:
        process.kill("SIGTERM")
    assert {one.name: one.wait() for one in processes} == {one.name: 0 for one in processes}


def started(nodes: Nodes, token: str) -> tuple[Web, list[LocalProcess]]:
    web = Web(nodes, nodes.folder, token)
    return web, [web.process, nodes.worker(*QUEUES, processes=2).container, nodes.beat()]


def prepare(url: str) -> None:
    """Migrate a database as the role of its address."""
    world = world_of(url)
    migrate(world.uow.engine)
    world.uow.engine.dispose()


def world_of(url: str) -> World:
    """Connect to the database as a process of the service does."""
    address = load({"DATABASE_URL": url}).database_url
    assert address is not None
    engine = make_engine(address.get_secret_value(), pool_size=2)
    return World(UnitOfWork(engine, publishing()), Policy(PARSER_VERSION), datetime.now(UTC))


def commits(repository: Callable[..., Path]) -> Iterator[str]:
    """Commits of one repository, each with a test more."""
    for n in count():
        folder = repository("shop", {f"tests/test_{n}.py": "def test_a() -> None:\n    pass\n"})
        yield subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=folder, text=True).strip()
