"""What the simulation tells is what real workers do: the same load through both."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from testlist import PARSER_VERSION

from app.cli.recorded_jobs import lines, read
from app.domain.plans import Tier
from app.services.fairness.simulate import recorded, simulate
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork
from bench.fairness.service import Service, wait_for
from tests.conftest import World

WORKERS = {"analysis_default": 2, "analysis_priority": 3}
LIMITS = {Tier.FREE: 1, Tier.PRO: 3, Tier.PRO_PLUS: 3, Tier.ENTERPRISE: 5}
#: Tier -> users of it; the first of each has half of the tier's jobs.
USERS = {Tier.FREE: 4, Tier.PRO: 2, Tier.ENTERPRISE: 2}
JOBS = {Tier.FREE: 50, Tier.PRO: 40, Tier.ENTERPRISE: 40}
MILLISECONDS = (200, 600)
#: In which the jobs come; their work takes its workers about twice as long.
SECONDS = 5.0
TOLERANCE = 0.15
SEED = int(os.environ.get("SIMULATION_SEED", "5"))

# The order of starts, on which it rests, is held in virtual time by tests/services/fairness/test_replay.py.
pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(
        "SIMULATION_SEED" not in os.environ,
        reason="holds times against times, and a slow second must fail no suite: make prove-simulation",
    ),
]


def submit_over_time(service: Service, users: Mapping[Tier, list[UUID]]) -> None:
    """Jobs by chance, most of them of few users: a third at once, then one after the other as their times come.

    At once, so that the queues are never empty: at the moment one is, milliseconds decide whose turn comes first.
    """
    roll = random.Random(SEED)
    plan: list[tuple[float, UUID, int]] = []
    for tier, count in JOBS.items():
        first, *others = users[tier]
        for _ in range(count):
            user_id = first if roll.random() < 0.5 else roll.choice(others)
            plan.append((max(0.0, roll.uniform(-SECONDS / 2, SECONDS)), user_id, roll.randint(*MILLISECONDS)))
    began = time.monotonic()
    for at, user_id, milliseconds in sorted(plan):
        time.sleep(max(0.0, began + at - time.monotonic()))  # the load comes in its own time
        service.submit(user_id, milliseconds)


@pytest.fixture
def service(database_url: str, uow: UnitOfWork) -> Service:
    return Service(database_url, uow, Policy(PARSER_VERSION), {"LOG_FORMAT": "json"})


def test_simulated_waits_are_those_of_real_workers_within_15_percent(service: Service, world: World) -> None:
    users = {tier: [world.user(tier, analyses=500) for _ in range(count)] for tier, count in USERS.items()}
    known = [user_id for group in users.values() for user_id in group] * 2
    with ExitStack() as nodes:
        for queue, processes in WORKERS.items():
            nodes.enter_context(service.node(processes, queue))
        for user_id in known:  # what a process does for the first time takes longer
            service.submit(user_id, sum(MILLISECONDS) // 2)
        wait_for(lambda: service.count("completed") == len(known), seconds=60)
        begin = datetime.now(UTC)
        submit_over_time(service, users)
        wait_for(lambda: service.count("completed") == len(known) + sum(JOBS.values()), seconds=60)
    load = recorded(service.uow, since=begin, until=datetime.now(UTC) + timedelta(seconds=1))
    told = simulate(read(lines(load)), LIMITS, WORKERS)
    print(*told.tiers, sep="\n")
    assert [row.jobs for row in told.tiers] == [JOBS[tier] for tier in Tier if tier in JOBS]
    for row in told.tiers:
        assert row.recorded_p50 > 0.5, "this load keeps nobody waiting, so it shows nothing"
        assert row.wait_p50 == pytest.approx(row.recorded_p50, rel=TOLERANCE), row
        assert row.wait_p95 == pytest.approx(row.recorded_p95, rel=TOLERANCE), row
