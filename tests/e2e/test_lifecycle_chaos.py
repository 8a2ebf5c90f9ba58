"""Clients, operators, kills and a restart of PostgreSQL, all by chance and all at once: every job ends once, and is paid once.

Jobs of both services; each has a quota, slots and queues of its own.

CHAOS_ACTS acts of clients (160 in the suite, 6,000 by `make prove-quota`); CHAOS_SEED repeats a run's choices.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from celery import Celery
from durable_harness.postgres import PostgresServer
from durable_harness.waiting import wait_for
from sqlalchemy.engine import make_url
from testlist import PARSER_VERSION, Source, resolve

from app.adapters.publishing import publisher
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.migrate import migrate
from app.services.analyses.submission import Wanted
from app.services.operations.audit import HOLDS, audit
from app.services.policy import Policy
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World
from tests.e2e.clients import Client, Shared
from tests.nodes import LocalWorker, Nodes
from tests.race.invariants import broken

pytestmark = pytest.mark.proof

ACTS = int(os.environ.get("CHAOS_ACTS", "160"))
SEED = int(os.environ.get("CHAOS_SEED", random.randrange(2**32)))
CLIENTS, NODES, PROCESSES, USERS, REPOSITORIES = 4, 2, 2, 6, 4
NOWHERE = 0.1
TEST = "def test_{0}_{1}() -> None:\n    pass\n\n\n"
FILES = 32  # in all repositories together: a long run must not be one of ever larger ones
PAUSE_SECONDS = 0.15  # of a client between two acts, on average
OFTEN = {
    "LEASE_SECONDS": "4",
    "HEARTBEAT_SECONDS": "1",
    "FAIRNESS_SNOOZE_DURATION": "1s",
    "FAIRNESS_SNOOZE_JITTER": "0",
}

ENDS = """
    SELECT r.job_id, count(e.event) FILTER (WHERE e.event IN ('completed', 'failed', 'cancelled')) AS ends
      FROM analysis_requests r LEFT JOIN job_events e ON e.job_id = r.job_id
     WHERE r.role = 'payer' GROUP BY r.job_id, r.user_id HAVING
           count(e.event) FILTER (WHERE e.event IN ('completed', 'failed', 'cancelled')) <> 1"""
#: Looks at a branch are no jobs, and no node here serves their queue.
JOBS = "SELECT 'message', task_id FROM kombu_message WHERE unique_key IS NULL OR unique_key NOT LIKE 'look:%'"
LEFT = f"""
    SELECT 'reservation', job_id::text FROM quota_reservations
     UNION ALL SELECT 'slot', job_id::text FROM execution_slots UNION ALL {JOBS}"""


@pytest.fixture
def postgres() -> Iterator[PostgresServer]:
    """A server that may be restarted."""
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture
def restless(postgres: PostgresServer) -> Iterator[World]:
    """The world on that server, as it is at this moment and under the policy of the workers."""
    url = make_url(postgres.url()).set(drivername="postgresql+psycopg2").render_as_string()
    engine = make_engine(url, pool_size=10)
    migrate(engine)
    uow = UnitOfWork(engine, publisher(Celery("chaos", set_as_current=False, broker="memory://")))
    yield World(uow, Policy(PARSER_VERSION), datetime.now(UTC))
    engine.dispose()


@pytest.mark.timeout(3600)
def test_whatever_happens_every_job_ends_once_and_every_completed_one_is_paid_once(
    restless: World, postgres: PostgresServer, tmp_path: Path, repository: Callable[..., Path]
) -> None:
    print(f"seed {SEED}, {ACTS} acts")
    dice = random.Random(SEED)
    users = [restless.user(tier) for tier in (Tier.FREE, Tier.PRO) for _ in range(USERS // 2)]
    shared = Shared(restless, users, commits(repository, dice))
    with Nodes.open(restless.uow.engine.url.render_as_string(hide_password=False), tmp_path) as nodes:
        queues = ("analysis_priority", "analysis_default", "specview_priority", "specview_default")
        workers = [nodes.worker(*queues, processes=PROCESSES, **OFTEN) for _ in range(NODES)]
        clients = [Client(shared, dice.getrandbits(32), ACTS // CLIENTS, PAUSE_SECONDS) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        kills = disturb(dice, workers, postgres, clients, shared.restarting)
        for client in clients:
            client.join()
        assert [client.error for client in clients if client.error] == []
        for worker in workers:
            if worker.container.status != "running":
                worker.container.restart()
        # a busy machine has most of them still to do: only a job that never ends may fail this
        wait_for(lambda: not restless.rows(JOBS), "every job to end", seconds=1800)
    ended = Counter(
        str(row["service"]) for row in restless.rows("SELECT service FROM job_records WHERE status <> 'running'")
    )
    print(f"{len(shared.jobs)} jobs, {kills} kills: {dict(shared.seen)}; {dict(ended)}")
    assert min(ended[service] for service in Service) > 0
    assert shared.jobs.keys() <= {row["job_id"] for row in restless.rows("SELECT job_id FROM analysis_requests")}
    assert (shared.faults, restless.rows(ENDS), restless.rows(LEFT)) == ([], [], [])
    # the limits are edited while it runs, so only the audit can judge each accept by the limit of its moment
    assert [row for row in broken(restless) if not str(row[0]).startswith("I1 ")] == []
    assert {f"{f.number} {f.status} {f.rows}" for f in audit(restless.uow) if f.status != HOLDS} == set()


def commits(repository: Callable[..., Path], dice: random.Random) -> list[Wanted]:
    """Some commits of some repositories, and some that are nowhere, by chance in between."""
    found = []
    for turn in range(ACTS // 4):
        name = f"shop{turn % REPOSITORIES}"
        file = f"tests/test_{turn % FILES}.py"
        path = repository(name, {file: "".join(TEST.format(turn, n) for n in range(100))})
        commit, _ = resolve(Source.local(path), None)
        if dice.random() < NOWHERE:
            commit = f"{turn:040x}"
        found.append(Wanted(Repository("local", "-", name), commit))
    return found


def disturb(
    dice: random.Random,
    workers: list[LocalWorker],
    postgres: PostgresServer,
    clients: list[Client],
    restarting: threading.Event,
) -> int:
    """Kill until the clients are done; restart PostgreSQL once, when they have done half of it.  How often it killed."""
    kills, restarted = 0, False
    while any(client.is_alive() for client in clients):
        if not restarted and all(client.is_half_done for client in clients):
            restarting.set()
            postgres.stop("immediate")
            postgres.start()
            restarted = True
        time.sleep(dice.uniform(0.2, 1.5))
        worker = dice.choice(workers)
        if dice.random() < 0.25 or worker.container.status != "running":
            worker.container.restart()
        elif children := worker.container.children():
            dice.choice(children).kill()
        kills += 1
    assert restarted
    return kills
