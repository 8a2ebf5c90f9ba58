"""What fairness did of late, as a monitor reads it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.plans import Tier
from app.services.fairness.count_events import BOUNDS, SPAN, count
from tests.conftest import World
from tests.services.fairness.courses import at, lived, ran

AGO = SPAN.total_seconds()


def test_waits_and_wakes_are_counted_by_how_long_they_took(world: World) -> None:
    free, pro = world.user(), world.user(Tier.PRO)
    ran(world, pro, 0, 0.03, 1)
    ran(world, pro, 0, 4, 5)
    lived(world, free, 0, (1, "snoozed"), (8, "woken"), (8.015, "started"), (9, "completed"))
    # as the services write it
    world.rows("""UPDATE job_events SET facts = '{"attempt": 1}' WHERE event = 'started' RETURNING id""")
    found = count(world.uow, now=at(world, 60))
    assert (found.seconds, found.events["snoozed"]["free"], found.events["woken"]["free"]) == (AGO, 1, 1)
    assert (found.events["started"]["pro"], found.events["started"]["free"]) == (2, 1)
    waits = dict(zip(BOUNDS, found.waits["pro"].counts, strict=False))
    assert (waits[0.02], waits[0.05], waits[2.5], waits[5]) == (0, 1, 1, 2)
    assert found.waits["pro"].seconds == pytest.approx(4.03)
    wakes = dict(zip(BOUNDS, found.wakes.counts, strict=False))
    assert (wakes[0.01], wakes[0.02], found.wakes.counts[-1]) == (0, 1, 1)


def test_a_later_attempt_has_no_wait_and_no_wake(world: World) -> None:
    lived(world, world.user(), 0, (1, "retrying"), (8, "started"))
    world.rows("""UPDATE job_events SET facts = '{"attempt": 2}' WHERE event = 'started' RETURNING id""")
    found = count(world.uow, now=at(world, 60))
    assert (found.events["started"]["free"], found.waits["free"].counts[-1], found.wakes.counts[-1]) == (1, 0, 0)


def test_what_is_older_than_the_span_is_not_counted(world: World) -> None:
    ran(world, world.user(), 0, 1, 2)
    assert count(world.uow, now=at(world, AGO + 0.5)).events["started"]["free"] == 1
    assert count(world.uow, now=at(world, AGO + 1.5)).events["started"]["free"] == 0


def test_of_more_events_than_are_read_the_newest_count_and_the_span_says_so(world: World) -> None:
    user = world.user()
    for second in (0, 100, 200):
        ran(world, user, second, second + 1, second + 2)
    found = count(world.uow, now=at(world, 300), most=4)
    assert (found.events["started"]["free"], found.seconds) == (1, pytest.approx(198))


def test_slots_are_counted_by_service_and_tier_of_now(world: World) -> None:
    world.running(world.user())
    pro = world.user(Tier.PRO)
    world.running(pro)
    world.running(pro)
    found = count(world.uow, now=world.now + timedelta(seconds=1))
    assert found.slots["analysis", "pro"] == 2
    assert found.slots["analysis", "free"] == 1
    assert sum(found.slots.values()) == 3
