"""A service of a benchmark's own: database, users, submissions and worker nodes, and what its timeline tells."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text
from testlist.version import PARSER_VERSION

from app.domain.fairness import FairnessPolicy
from app.domain.plans import Tier
from app.domain.repositories import Repository
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork
from app.store.fairness.observed_waits import ObservedWaits
from bench.accept.database import database, user

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 300.0
#: The tables of messages.
BROKER = "durable_message, durable_ready, durable_lease, durable_waiting"
#: A job as accept stored it, many times over, for other commits.
COPY = """
    WITH fresh AS MATERIALIZED (SELECT n, gen_random_uuid() AS id FROM generate_series(1, :count) AS n),
    asked AS (
        INSERT INTO analysis_requests
               (job_id, user_id, role, codebase_id, commit_sha, trigger, queue, tier, requested_at, retention_days)
        SELECT fresh.id, user_id, role, codebase_id, md5(n::text) || '00000000', trigger, queue, tier, requested_at,
               retention_days
          FROM analysis_requests, fresh WHERE job_id = CAST(:sample AS uuid)),
    sample AS (
        SELECT m.*, r.rank FROM durable_message m LEFT JOIN durable_ready r USING (id) WHERE m.task_id = :sample),
    made AS (
        INSERT INTO durable_message (payload, queue_id, task_id, tenant, step)
        SELECT replace(payload, task_id, fresh.id::text), queue_id, fresh.id::text, tenant, step FROM sample, fresh
        RETURNING id, task_id, queue_id, tenant, step),
    ready AS (
        INSERT INTO durable_ready (id, queue_id, tenant, rank)
        SELECT made.id, made.queue_id, made.tenant, sample.rank + n * made.step
          FROM made JOIN fresh ON fresh.id::text = made.task_id, sample WHERE sample.rank IS NOT NULL)
    INSERT INTO durable_waiting (id, queue_id, tenant, reason, due_at)
    SELECT made.id, made.queue_id, made.tenant, w.reason, w.due_at
      FROM made, durable_waiting w WHERE w.id = (SELECT id FROM sample)"""


@dataclass(frozen=True)
class Service:
    """One database and what runs on it.  limits: of all users, None: those of the tiers."""

    url: str
    uow: UnitOfWork
    policy: Policy
    environment: Mapping[str, str] = field(default_factory=dict)

    def user(self, name: str, tier: Tier = Tier.FREE) -> UUID:
        """A new user."""
        return user(self.uow, name, tier)

    def submit(self, user_id: UUID, milliseconds: int) -> UUID:
        """Accept an analysis that will take so long; its job's id."""
        wanted = Wanted(Repository("github.com", "bench", f"ms{milliseconds}"), uuid4().hex + uuid4().hex[:8])
        return submit(self.uow, user_id, wanted, self.policy, now=datetime.now(UTC)).job.id

    def copy(self, job_id: UUID, count: int) -> None:
        """Have so many more messages like a job's, which only wait."""
        with self.uow.begin() as tx:
            tx.run(text(COPY), sample=str(job_id), count=count)
        with self.uow.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"VACUUM ANALYZE {BROKER}, analysis_requests"))

    def rows(self, statement: str, **given: Any) -> list[Any]:
        """What a query finds."""
        with self.uow.begin() as tx:
            return list(tx.run(text(statement), **given).all())

    def value(self, statement: str, **given: Any) -> Any:
        """The one value of the one row a query finds."""
        [[found]] = self.rows(statement, **given)
        return found

    def count(self, event: str) -> int:
        """How often something happened to jobs so far."""
        return int(self.value("SELECT count(*) FROM job_events WHERE event = :event", event=event))

    @contextlib.contextmanager
    def node(self, processes: int, queue: str = "analysis_default") -> Iterator[subprocess.Popen[bytes]]:
        """A worker node, ready to take jobs."""
        with tempfile.TemporaryDirectory(prefix="fairness-") as folder:
            log = Path(folder) / "log"
            with log.open("wb") as out:
                name = f"{uuid4().hex[:8]}@bench"
                argv = ["-m", "celery", "-A", "bench.fairness.worker", "worker", "-l", "INFO", "-Q", queue,
                        "-n", name, "-c", str(processes),
                        "--without-gossip", "--without-mingle", "--without-heartbeat"]  # fmt: skip
                environment = os.environ | {"DATABASE_URL": self.url, "FAIRLANE_HOME": folder, **self.environment}
                node = subprocess.Popen([sys.executable, *argv], cwd=ROOT, env=environment, stdout=out, stderr=out)
            try:
                wait_for(lambda: b"ready." in log.read_bytes() or node.poll() is not None)
                if node.poll() is not None:
                    raise RuntimeError(log.read_text()[-3000:])
                yield node
            finally:
                stop(node)


def stop(node: subprocess.Popen[bytes]) -> None:
    """Coldly: what it holds goes back."""
    node.send_signal(signal.SIGQUIT)
    try:
        node.wait(20)
    except subprocess.TimeoutExpired:
        node.kill()
        node.wait()


def wait_for(condition: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> None:
    """Look until it is so.  Raises: TimeoutError."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s in vain")
        time.sleep(0.02)  # between two looks


@contextlib.contextmanager
def service(limit: int | None = None, *, enabled: bool = True) -> Iterator[Service]:
    """A fresh one, with unlimited quota.  limit: of concurrent jobs of the free tier."""
    environment = {"FAIRNESS_ENABLED": str(enabled).lower(), "LOG_FORMAT": "json"}
    fairness = FairnessPolicy()
    if limit is not None:
        environment["FAIRNESS_FREE_LIMIT"] = str(limit)
        fairness = replace(fairness, slot_limits={Tier.FREE: limit})
    if not enabled:
        fairness = replace(fairness, mode=type(fairness.mode).OFF)
    with database() as (url, uow):
        with uow.begin() as tx:
            tx.run(text("UPDATE subscription_plans SET analyses_per_period = NULL"))
        yield Service(url, uow, Policy(PARSER_VERSION, fairness, observed_waits=ObservedWaits()), environment)
