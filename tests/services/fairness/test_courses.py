"""What is read of a span is what the events of each job say one by one, whatever happened to the jobs."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from uuid import UUID

import pytest

from app.domain.attribution import Course
from app.domain.plans import Tier
from app.store.fairness import waits
from tests.conftest import World
from tests.services.fairness.courses import at, lived
from tests.tiers import few

ENDS = ("completed", "failed", "cancelled")
QUEUES = ("analysis_default", "analysis_priority")


def histories(world: World, dice: Random, users: list[UUID], jobs: int) -> None:
    """Jobs with up to three attempts over two hours; some never start or end, some are carried by another user."""
    for _ in range(jobs):
        second = dice.uniform(0, 7000)
        steps: list[tuple[float, str]] = []
        for attempt in range(dice.randint(0, 3)):
            if attempt:
                steps.append((dice.uniform(0.1, 300), "retrying"))
            steps.append((dice.uniform(0.1, 300), "started"))
        if dice.random() < 0.8:
            steps.append((dice.uniform(0.1, 300), dice.choice(ENDS if steps else ENDS[2:])))
        passed, told = second, []
        for after, event in steps:
            passed += after
            told.append((passed, event))
        job_id = lived(world, dice.choice(users), second, *told)
        if dice.random() < 0.2:
            world.rows(
                """UPDATE analysis_requests SET requested_at = :at, queue = :queue, carried_at = :at
                    WHERE job_id = :job RETURNING id""",
                job=job_id, at=at(world, second), queue=dice.choice(QUEUES),
            )  # fmt: skip


def expected(world: World, since: float, until: float) -> list[Course]:
    """The same, from each job's events by the words of the rule."""
    begin, end = at(world, since).timestamp(), at(world, until).timestamp()
    found = []
    for job in world.rows("SELECT job_id, user_id, tier, queue FROM analysis_requests WHERE role = 'payer'"):
        events = [
            (row["at"].timestamp(), row["event"])  # type: ignore[attr-defined]
            for row in world.rows("SELECT at, event FROM job_events WHERE job_id = :job ORDER BY id", job=job["job_id"])
        ]
        events = [(when, event) for when, event in events if begin <= when < end]
        if not events:
            continue
        runs: list[tuple[float, float]] = []
        for number, (when, event) in enumerate(events):
            if event == "started":
                runs.append((when, events[number + 1][0] if number + 1 < len(events) else end))
            elif number == 0 and event in ("completed", "failed", "retrying"):
                runs.append((begin, when))
        accepted = events[0][0] if events[0][1] == "accepted" else None
        tier = Tier(str(job["tier"] or "free"))
        found.append(Course(str(job["user_id"]), tier, str(job["queue"]), accepted, tuple(runs), events[-1][1] in ENDS))
    return found


@pytest.mark.parametrize("seed", few(1, range(3)))
def test_the_courses_of_a_span_are_those_of_its_events(world: World, seed: int) -> None:
    dice = Random(seed)
    histories(world, dice, [world.user(tier) for tier in (Tier.FREE, Tier.FREE, Tier.PRO)], 40)
    for since, until in ((0, 9000), (1500, 4000), (3000, 3100)):
        with world.uow.begin() as tx:
            seen = waits.courses(tx, since=at(world, since), until=at(world, until))
        assert seen.since == world.now + timedelta(seconds=since)
        key = [(one.user or "", one.accepted or 0.0, one.runs) for one in seen.courses]
        assert len(set(key)) == len(key)
        assert sorted(map(repr, seen.courses)) == sorted(map(repr, expected(world, since, until)))
