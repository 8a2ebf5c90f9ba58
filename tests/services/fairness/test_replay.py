"""The simulation and the services: the same load in the same virtual time starts the same jobs in the same order."""

from __future__ import annotations

import heapq
import random
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from app.domain.lifecycle import Delivery, Outcome
from app.domain.plans import SOLD_PLANS, Tier
from app.domain.simulation import Arrival, simulate
from tests.conftest import World
from tests.tiers import few

LIMITS = {plan.tier: plan.slot_limit for plan in SOLD_PLANS}
QUEUE = "analysis_priority"
CLAIM = f"SELECT * FROM durable_claim('{QUEUE}', 1, NULL, 3600, 0, 0)"
TASK = "SELECT task_id FROM kombu_message WHERE id = :id"


def load(seed: int, users: dict[UUID, Tier]) -> list[Arrival]:
    """A burst, and jobs by chance after it, so many that the queue is not empty before the end."""
    roll = random.Random(seed)
    found = []
    for number in range(60):
        user = roll.choice(list(users))
        at = 0.0 if number < 20 else roll.uniform(0, 15)
        found.append(Arrival(at, str(user), users[user], QUEUE, roll.randint(1, 12) / 8))
    return sorted(found, key=lambda arrival: arrival.at)


def claim(world: World) -> Delivery | None:
    """The next job, as a node of the broker is given it."""
    rows = world.rows(CLAIM)
    if not rows:
        return None
    task = str(world.value(TASK, id=rows[0]["message_id"]))
    return Delivery(UUID(task), UUID(str(rows[0]["token"])), 0, 0)


def replay(world: World, arrivals: list[Arrival], processes: int) -> list[tuple[int, float]]:
    """(arrival, when it started) in the order of the starts, by the real services."""
    number: dict[UUID, int] = {}
    starts: list[tuple[int, float]] = []
    ends: list[tuple[float, int, Delivery]] = []
    moments = [(arrival.at, place) for place, arrival in enumerate(arrivals)]
    idle = processes
    while moments or ends:
        if ends and (not moments or ends[0][0] <= moments[0][0]):
            at, place, delivery = heapq.heappop(ends)
            moved = replace(world, now=world.now + timedelta(seconds=at))
            assert moved.finish(delivery, UUID(arrivals[place].user)) is Outcome.COMPLETED
            idle += 1
        else:
            at, place = moments.pop(0)
            moved = replace(world, now=world.now + timedelta(seconds=at))
            number[moved.submit(UUID(arrivals[place].user))] = place
        while idle and (claimed := claim(moved)):
            place = number[claimed.job_id]
            if moved.start(claimed, UUID(arrivals[place].user)) is Outcome.STARTED:
                starts.append((place, at))
                heapq.heappush(ends, (at + arrivals[place].seconds, place, claimed))
                idle -= 1
    return starts


@pytest.mark.parametrize("processes", few(1, [2, 4, 9]))
@pytest.mark.parametrize("seed", few(1, [1, 2]))
def test_the_simulation_starts_what_the_services_start(world: World, processes: int, seed: int) -> None:
    tiers = [Tier.PRO, Tier.PRO, Tier.PRO_PLUS, Tier.ENTERPRISE, Tier.ENTERPRISE]
    users = {world.user(tier): tier for tier in tiers}
    arrivals = load(seed, users)
    for user in users:
        seconds = [arrival.seconds for arrival in arrivals if arrival.user == str(user)]
        known = "UPDATE users SET run_seconds = :mean WHERE id = :id RETURNING id"
        world.rows(known, id=user, mean=sum(seconds) / len(seconds))
    simulated = [run.started for run in simulate(arrivals, LIMITS, {QUEUE: processes})]
    replayed = dict(replay(world, arrivals, processes))
    assert [replayed[place] for place in range(len(arrivals))] == pytest.approx(simulated)
