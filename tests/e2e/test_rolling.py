"""Rolling restarts under load: nothing is lost, nobody is charged.

ROLLING_RESTARTS restarts (4 in the suite, 50 by `make prove-rolling`): SIGTERM to one node after the other, as a
supervisor does it, each at a moment of chance.
"""

import os
import random
import socket
import time
from functools import partial
from statistics import median, quantiles
from uuid import UUID

import pytest
from durable_harness.waiting import wait_for

from app.domain.plans import Tier
from tests.e2e.conftest import System
from tests.e2e.test_kill import BROKEN
from tests.nodes import LocalWorker

pytestmark = pytest.mark.proof

RESTARTS = int(os.environ.get("ROLLING_RESTARTS", "4"))
NODES, PROCESSES, BACKLOG = 2, 2, 8
#: What the proof asks of a machine of its own; the suite may run on one that is busy.
WITHIN_SECONDS = 2.0 if RESTARTS > 10 else 20.0
LEASES = "SELECT count(*) FROM kombu_message WHERE lease_owner = {}"
CHARGED = "SELECT job_id, event, facts FROM job_events WHERE event = 'started' AND (facts ->> 'attempt')::int > 1"
CUT = """
    SELECT count(*) FROM (
        SELECT FROM job_events WHERE event = 'started' GROUP BY job_id HAVING count(*) > 1) AS cut"""


@pytest.mark.timeout(1800)
def test_rolling_restarts_under_load_lose_nothing_and_charge_nobody(system: System) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}, {RESTARTS} restarts")
    dice = random.Random(seed)
    users = [system.user(Tier.ENTERPRISE) for _ in range(2)]
    workers = [_node(system) for _ in range(NODES)]
    jobs: list[UUID] = []
    seconds: list[float] = []

    def is_at_work(lock: int) -> bool:
        while system.world.value("SELECT count(*) FROM kombu_message") < BACKLOG:
            jobs.append(_submit(system, dice.choice(users), len(jobs)))
        return bool(system.world.value(LEASES.format(lock)))

    for restart in range(RESTARTS):
        stopped = workers[restart % NODES]
        lock = _lock(system, stopped)
        wait_for(partial(is_at_work, lock), "the node to be at work")
        time.sleep(dice.random())  # the moment of chance
        seconds.append(_stop(system, stopped, lock))
        workers[restart % NODES] = _node(system)
        assert stopped.container.wait(30) == 0
    wait_for(lambda: not system.world.rows("SELECT 1 FROM kombu_message"), "every job to end", seconds=240)
    _report(seconds, len(jobs), system.world.value(CUT))
    assert {name: rows for name, query in BROKEN.items() if (rows := system.world.rows(query))} == {}
    assert {system.job(job_id)["status"] for job_id in jobs} == {"completed"}
    assert system.world.rows(CHARGED) == []
    assert system.world.value(CUT) > 0, "no restart met a running job"
    assert max(seconds) < WITHIN_SECONDS


def _node(system: System) -> LocalWorker:
    return system.nodes.worker("analysis_priority", "analysis_default", processes=PROCESSES)


def _lock(system: System, worker: LocalWorker) -> int:
    name = f"{socket.gethostname()}:{worker.container.pid}"
    return int(system.world.value(f"SELECT lock FROM kombu_node WHERE name = '{name}'"))


def _stop(system: System, worker: LocalWorker, lock: int) -> float:
    """-> seconds from the signal until the node holds nothing."""
    begun = time.monotonic()
    worker.kill(signal="SIGTERM")
    wait_for(lambda: not system.world.value(LEASES.format(lock)), "the leases to be handed back", seconds=30)
    return time.monotonic() - begun


def _report(seconds: list[float], jobs: int, cut: object) -> None:
    p95 = quantiles(seconds, n=20)[-1]
    print(
        f"{jobs} jobs, {cut} of them cut off and run again; handed back after {median(seconds):.2f} s, "
        f"p95 {p95:.2f} s, at most {max(seconds):.2f} s"
    )


def _submit(system: System, user: UUID, number: int) -> UUID:
    tests = "".join(f"def test_{number}_{i}() -> None:\n    pass\n\n\n" for i in range(200))
    return system.submit(user, f"shop{number}", {f"tests/test_{n}.py": f"# {n}\n{tests}" for n in range(150)})
