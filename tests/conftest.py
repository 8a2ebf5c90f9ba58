"""What every level of tests shares: one PostgreSQL for the run, a fresh database for each test that asks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from durable_harness import profiles  # noqa: F401  loads a profile
from durable_harness.left_behind import RUN_FOLDER
from service_harness import deliveries
from service_harness.deliveries import rescheduler
from sqlalchemy import Connection, create_engine, pool, text

from app import embedded
from app.domain.lifecycle import Delivery, Failure, Outcome
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.services.analyses.finish import finish, save
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.jobs import read_jobs
from app.services.jobs.answers import Answer, Key
from app.services.jobs.fail import fail
from app.services.jobs.start import start
from app.services.policy import Policy
from app.store.accounts import users
from app.store.analyses.file_lists import Listing
from app.store.analyses.inventories import FileRow
from app.store.core import connections
from app.store.core.session import Session
from app.store.core.unit_of_work import JobMessage, UnitOfWork
from app.store.jobs.idempotency import Stored
from tests.databases import PATIENT, Databases, template
from tests.nodes import Nodes
from tests.skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401  hooks
from tests.tiers import pytest_collection, pytest_collection_modifyitems  # noqa: F401  hooks

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
A_FILE = FileRow("tests/test_a.py", "a" * 40, "pytest", [{"name": "test_a", "line": 1, "suites": []}], None)


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """A busy machine may stop a test in a transaction, or with a lock, for longer than the service lets a client."""
    with pytest.MonkeyPatch.context() as patch:
        for name, limit in PATIENT.items():
            patch.setitem(connections.LIMITS, name, limit)
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[embedded.Server]:
    """The run's own PostgreSQL, shared by all xdist workers; the last one to leave stops it."""
    with embedded.hold(Path(os.environ[RUN_FOLDER]) / "home", durable=False) as running:
        yield running


@pytest.fixture(scope="session")
def databases(server: embedded.Server) -> Iterator[Databases]:
    """Makes migrated and empty databases on the run's PostgreSQL."""
    made = Databases(server, template(server))
    yield made
    made.close()


@pytest.fixture
def database_url(databases: Databases) -> str:
    """A database as the migrations leave it, for this test alone while it runs."""
    return databases.emptied()


@pytest.fixture
def empty_url(databases: Databases) -> Iterator[str]:
    """A database that was never migrated."""
    with databases.new() as url:
        yield url


@pytest.fixture
def uow(databases: Databases, database_url: str) -> Iterator[UnitOfWork]:
    """Transactions on the fresh database that publish as the product does."""
    with databases.engine(database_url) as engine:
        yield UnitOfWork(engine, publishing())


def keyed(name: str, fingerprint: bytes) -> Key[Answer]:
    """An Idempotency-Key whose answers are kept as the web keeps them."""
    from app.web.jobs.job_json import rendered  # a second of imports, which the process that runs no test does without

    return Key(name, fingerprint, rendered)


def id_of(answer: Answer | Stored) -> UUID:
    """Of which job an answer tells, be it given before or not."""
    return UUID(answer.body["id"]) if isinstance(answer, Stored) else answer.job.id


_made = count()


def in_order() -> UUID:
    """A random id that is greater than those before it: statements that sort by ids do the same in each run."""
    return UUID(int=uuid4().int & ((1 << 80) - 1) | next(_made) << 80, version=4)


@dataclass(frozen=True)
class World:
    """Short words for what most tests set up."""

    uow: UnitOfWork
    policy: Policy = field(default_factory=lambda: Policy("1.0.0+test"))
    now: datetime = NOW

    def user(self, tier: Tier = Tier.FREE, *, analyses: int | None = None, email: str | None = None) -> UUID:
        """A person on a tier; analyses: units per period for that tier from now on."""
        user_id = in_order()
        with self.uow.begin() as tx:
            users.add(tx, user_id, email=email or f"{user_id}@example.org", now=self.now)
            users.verify_email(tx, user_id, now=self.now)  # as of an account that an operator made
            users.set_tier(tx, user_id, tier, now=self.now)
            if analyses is not None:
                plan = "UPDATE subscription_plans SET analyses_per_period = :n WHERE tier = CAST(:tier AS plan_tier)"
                tx.run(text(plan), n=analyses, tier=tier.value)
        return user_id

    def wanted(self, name: str = "shop", commit: str | None = None, *, retry: bool = False) -> Wanted:
        """A commit of a repository; a new one unless given."""
        return Wanted(Repository("github.com", "acme", name), commit or uuid4().hex + uuid4().hex[:8], retry=retry)

    def submit(self, user_id: UUID, wanted: Wanted | None = None) -> UUID:
        """Accept an analysis; its job id."""
        answer = submit(self.uow, user_id, wanted or self.wanted(), self.policy, now=self.now)
        return answer.job.id

    def lease(self, job_id: UUID) -> Delivery:
        """Claim a message as a worker's node does."""
        with self.uow.begin() as tx:
            return deliveries.lease(tx, job_id).delivery

    def lose(self, job_id: UUID) -> None:
        """Take a message back from a worker that died, as any node does."""
        with self.uow.begin() as tx:
            deliveries.lose(tx, job_id)

    def start(self, delivery: Delivery, user_id: UUID | None) -> Outcome:
        """Begin a delivery; a snooze is written as the broker's in-place retry writes it."""
        return start(
            self.uow,
            delivery,
            Service.ANALYSIS,
            user_id,
            self.policy,
            snooze=rescheduler(delivery, "snooze"),
            roll=0.5,
            now=self.now,
        )

    def running(self, user_id: UUID, wanted: Wanted | None = None) -> Delivery:
        """A job that a worker has started."""
        delivery = self.lease(self.submit(user_id, wanted))
        assert self.start(delivery, user_id) is Outcome.STARTED
        return delivery

    def saved(self, files: Sequence[FileRow] = (A_FILE,)) -> Listing:
        """Store files by content, as a worker does before it finishes."""
        return save(self.uow, files, self.policy)

    def finish(
        self,
        delivery: Delivery,
        user_id: UUID | None,
        files: Sequence[FileRow] = (A_FILE,),
        *,
        listing: Listing | None = None,
    ) -> Outcome:
        """Complete a delivery with these files, a result without a test being billed to nobody.

        listing: of these files, which were saved before.
        """
        tests = [test for file in files for test in file.tests]
        summary = {"tests": len(tests), "files": len(files), "suites": 0, "by_status": {}, "by_framework": {}}
        listing = self.saved(files) if listing is None else listing
        return finish(self.uow, delivery, user_id, listing, summary, now=self.now)

    def fail(self, delivery: Delivery, user_id: UUID | None, failure: Failure) -> Outcome:
        """End an attempt with a failure."""
        return fail(
            self.uow,
            delivery,
            Service.ANALYSIS,
            user_id,
            failure,
            retry=rescheduler(delivery, "retry"),
            roll=0.5,
            now=self.now,
        )

    def status(self, job_id: UUID) -> str:
        """What a client sees."""
        job = read_jobs.job(self.uow, job_id, None, self.policy, now=self.now)
        return str(job.status)

    def rows(self, query: str, **parameters: object) -> list[dict[str, object]]:
        """What a query finds, as dicts."""
        with self.uow.begin() as tx:
            return [dict(row._mapping) for row in tx.run(text(query), **parameters)]

    def value(self, query: str, **parameters: object) -> object:
        """The one value of the one row a query finds."""
        (row,) = self.rows(query, **parameters)
        (value,) = row.values()
        return value

    def with_policy(self, **changes: object) -> World:
        """The same world under another policy."""
        return replace(self, policy=replace(self.policy, **changes))


@pytest.fixture
def world(uow: UnitOfWork) -> World:
    return World(uow)


@pytest.fixture
def repository(tmp_path: Path) -> Callable[..., Path]:
    """A factory of Git repositories: repository("shop", {"test_a.py": "def test_x(): pass"}) -> its path."""

    def make(name: str = "shop", files: dict[str, str] | None = None) -> Path:
        path = tmp_path / "repositories" / name
        path.mkdir(parents=True, exist_ok=True)
        for file, content in (files or {"test_shop.py": "def test_buys() -> None:\n    pass\n"}).items():
            (path / file).parent.mkdir(parents=True, exist_ok=True)
            (path / file).write_text(content)
        if not (path / ".git").exists():
            _git(path, "init", "--quiet", "--initial-branch=main")
        _git(path, "add", "--all")
        _git(path, "commit", "--quiet", "--allow-empty", "--message=change")
        return path

    return make


@pytest.fixture
def nodes(database_url: str, tmp_path: Path) -> Iterator[Nodes]:
    """A factory of real Celery workers on the fresh database; killed with all they started at the end."""
    with Nodes.open(database_url, tmp_path) as made:
        yield made


@contextmanager
def raw_connection(url: str) -> Iterator[Connection]:
    """A connection outside of any pool, for what a second program would do."""
    engine = create_engine(url, poolclass=pool.NullPool)
    with engine.connect() as connection:
        yield connection


def publishing() -> Callable[[Session, JobMessage], None]:
    from celery import Celery

    from app.adapters.publishing import publisher

    return publisher(Celery("tests", set_as_current=False, broker="memory://"))


def _git(path: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=path, check=True, capture_output=True)
