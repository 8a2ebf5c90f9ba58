"""Snoozes by tier and by user, as operators see them."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from app.domain.plans import Tier
from app.services.fairness import count_snoozes
from tests.conftest import NOW, World

SNOOZE = """
    INSERT INTO job_events (job_id, event, at, facts)
    SELECT :job, 'snoozed', :at, jsonb_build_object('seconds', 30, 'tier', CAST(:tier AS text)) RETURNING id"""


def snooze(world: World, job: UUID, tier: Tier, *ages: timedelta) -> None:
    for age in ages:
        world.rows(SNOOZE, job=job, tier=tier.value, at=NOW - age)


def minutes(*numbers: int) -> list[timedelta]:
    return [timedelta(minutes=number) for number in numbers]


def test_snoozes_of_the_last_day_are_counted_by_tier_and_by_user(world: World) -> None:
    ann, bob, eve = world.user(Tier.FREE), world.user(Tier.FREE), world.user(Tier.PRO)
    first, second, third, fourth = (world.submit(user) for user in (ann, ann, bob, eve))
    snooze(world, first, Tier.FREE, *minutes(1, 59, 61))
    snooze(world, second, Tier.FREE, *minutes(2, 1439))
    snooze(world, third, Tier.FREE, *minutes(1441, 5))
    snooze(world, fourth, Tier.PRO, *minutes(90))
    found = count_snoozes.count(world.uow, now=NOW)
    assert (found.is_cut, found.since) == (False, NOW - timedelta(days=1))
    assert [(one.tier, one.last_hour, one.snoozes, one.jobs, one.users) for one in found.tiers] == [
        ("free", 4, 6, 3, 2), ("pro", 0, 1, 1, 1), ("pro_plus", 0, 0, 0, 0), ("enterprise", 0, 0, 0, 0),
    ]  # fmt: skip
    assert [(one.user_id, one.tier, one.last_hour, one.snoozes, one.jobs) for one in found.users] == [
        (ann, "free", 3, 5, 2),
        *sorted([(bob, "free", 1, 1, 1), (eve, "pro", 0, 1, 1)], key=lambda row: str(row[0])),
    ]


def test_a_snooze_counts_for_the_user_whose_slots_the_job_waited_for(world: World) -> None:
    payer, carrier, wanted = world.user(Tier.FREE), world.user(Tier.PRO), world.wanted()
    for _ in range(3):
        world.submit(payer)
    job = world.submit(payer, wanted)
    assert world.submit(carrier, wanted) == job  # whose line is shorter, and whose queue is faster
    snooze(world, job, Tier.PRO, *minutes(3))
    assert [one.user_id for one in count_snoozes.count(world.uow, now=NOW).users] == [carrier]


def test_of_very_many_only_the_newest_are_read_and_the_window_says_so(world: World) -> None:
    job = world.submit(world.user())
    snooze(world, job, Tier.FREE, *minutes(1, 2, 3))
    assert not count_snoozes.count(world.uow, now=NOW, most=4).is_cut
    found = count_snoozes.count(world.uow, now=NOW, most=2)
    assert (found.is_cut, found.since) == (True, NOW - timedelta(minutes=2))
    assert found.tiers[0].snoozes == 2


def test_without_a_snooze_every_tier_has_zeros(world: World) -> None:
    found = count_snoozes.count(world.uow, now=NOW)
    assert {one.snoozes for one in found.tiers} == {0}
    assert not found.users
