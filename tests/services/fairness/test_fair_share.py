"""Waiting behind one's own jobs, and shares of a queue (docs/adr/0026)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from app.domain.fairness import FairnessMode, FairnessPolicy
from app.domain.lifecycle import Failure, Outcome
from app.domain.plans import Tier
from app.services.accounts import tiers
from app.services.analyses.submit import submit
from app.services.fairness import change_limits
from app.services.jobs import read_jobs
from app.services.jobs.cancel import cancel
from app.store.accounts import users
from tests.conftest import World
from tests.tiers import proofs

HELD = "SELECT task_id, delay_reason, rank FROM kombu_message ORDER BY id"
GROUPS = "SELECT count(*) FROM kombu_group"
READY = """SELECT m.task_id FROM kombu_message m WHERE m.visible ORDER BY m.rank, m.id"""


def reasons(world: World) -> list[object]:
    return [row["delay_reason"] for row in world.rows(HELD)]


def ready(world: World) -> list[UUID]:
    """Jobs in the order in which workers are given them."""
    return [UUID(str(row["task_id"])) for row in world.rows(READY)]


def run(world: World, user_id: UUID, job_id: UUID, *, seconds: float = 0) -> World:
    """Start and finish a job that takes so long; the world afterwards."""
    delivery = world.lease(job_id)
    assert world.start(delivery, user_id) is Outcome.STARTED
    later = replace(world, now=world.now + timedelta(seconds=seconds))
    assert later.finish(delivery, user_id) is Outcome.COMPLETED
    return later


def test_one_job_more_than_there_are_slots_is_handed_out_and_the_others_wait(world: World) -> None:
    user = world.user(Tier.PRO)
    jobs = [world.submit(user) for _ in range(7)]
    assert reasons(world) == [None] * 4 + ["parked"] * 3
    assert [world.status(job_id) for job_id in jobs] == ["queued"] * 4 + ["waiting"] * 3


def test_the_answer_to_an_accept_says_that_it_waits_behind_the_user_s_own(world: World) -> None:
    user = world.user()
    for _ in range(2):
        world.submit(user)
    told = submit(world.uow, user, world.wanted(), world.policy, now=world.now).job
    assert (told.status, told.wait.reason) == ("waiting", "user_at_limit")
    assert (told.wait.position, told.wait.yours_ahead, told.wait.limit) == (3, 2, 1)
    again = read_jobs.job(world.uow, told.id, None, world.policy, asker=user, now=world.now)
    assert again.wait == told.wait


def test_jobs_of_one_user_run_in_the_order_in_which_they_came_whatever_holds_them_back(world: World) -> None:
    user = world.user()
    jobs = [world.submit(user) for _ in range(6)]
    for job_id in jobs:
        assert ready(world)[0] == job_id
        run(world, user, job_id)
    assert world.value(GROUPS) == 0


def test_the_first_job_over_the_limit_snoozes_as_a_net_and_the_others_wait_without_a_countdown(world: World) -> None:
    user = world.user(Tier.PRO)
    first = [world.running(user) for _ in range(3)]
    later = [world.submit(user) for _ in range(3)]
    assert world.start(world.lease(later[0]), user) is Outcome.SNOOZED
    assert world.start(world.lease(later[1]), user) is Outcome.SNOOZED
    assert reasons(world) == [None] * 3 + ["snooze", "parked", "parked"]
    assert ready(world) == []
    for delivery in first:
        world.finish(delivery, user)
    assert ready(world) == later


@pytest.mark.proof
def test_a_hundred_waiting_jobs_are_snoozed_once_in_all(world: World) -> None:
    user = world.user(analyses=200)
    world.running(user)
    for _ in range(100):
        world.submit(user)
    while waiting := ready(world):
        assert world.start(world.lease(waiting[0]), user) is Outcome.SNOOZED
    assert world.value("SELECT sum(snooze_count) FROM kombu_message") == 1


def test_every_release_brings_the_next_of_many(world: World) -> None:
    user = world.user()
    jobs = [world.submit(user) for _ in range(5)]
    fails, stays = Failure("x", "x", retryable=True), Failure("x", "x")
    for job_id, failure in zip(jobs, (fails, stays, None, fails, None), strict=True):
        delivery = world.lease(job_id)
        assert world.start(delivery, user) is Outcome.STARTED
        world.fail(delivery, user, failure) if failure else world.finish(delivery, user)
        ahead = jobs[jobs.index(job_id) + 1 :][:2]
        assert ready(world) == ahead


def test_a_cancelled_job_hands_its_turn_on_and_the_last_one_ends_the_holding_back(world: World) -> None:
    user = world.user()
    jobs = [world.submit(user) for _ in range(4)]
    with world.uow.begin() as tx:
        account = users.find(tx, user)
    assert account is not None
    cancel(world.uow, jobs[0], account, world.policy, now=world.now)
    assert ready(world) == jobs[1:3]
    cancel(world.uow, jobs[3], account, world.policy, now=world.now)
    assert world.value(GROUPS) == 0
    assert ready(world) == jobs[1:3]


def test_a_raised_limit_is_filled_by_the_next_starts(world: World) -> None:
    user = world.user()
    jobs = [world.submit(user) for _ in range(6)]
    running = world.lease(jobs[0])
    world.start(running, user)
    assert world.start(world.lease(jobs[1]), user) is Outcome.SNOOZED
    world.rows("UPDATE subscription_plans SET concurrent_jobs = 3 WHERE tier = 'free' RETURNING 1")
    world.finish(running, user)
    for job_id in jobs[1:4]:
        assert ready(world) == [job_id]
        assert world.start(world.lease(job_id), user) is Outcome.STARTED
    assert ready(world) == []


def test_an_upgrade_makes_ready_what_the_new_tier_may_run(world: World) -> None:
    user = world.user()
    jobs = [world.submit(user) for _ in range(6)]
    world.start(world.lease(jobs[0]), user)
    world.start(world.lease(jobs[1]), user)
    assert ready(world) == []
    tiers.change_tier(world.uow, user, Tier.PRO, world.policy, actor="test", now=world.now)
    assert ready(world) == jobs[1:4]
    woken = world.rows("SELECT job_id FROM job_events WHERE event = 'woken' ORDER BY id")
    assert [row["job_id"] for row in woken] == jobs[1:4]


def test_a_change_of_tier_moves_what_waits_to_the_queue_of_the_new_tier_in_its_order(world: World) -> None:
    user = world.user()
    running = world.running(user)
    jobs = [world.submit(user) for _ in range(8)]
    queues = """SELECT q.name, count(*) FILTER (WHERE m.delay_reason IS NULL) AS free, count(*) AS all
                  FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id GROUP BY 1 ORDER BY 1"""
    tiers.change_tier(world.uow, user, Tier.PRO, world.policy, actor="test", now=world.now)
    assert [tuple(row.values()) for row in world.rows(queues)] == [
        ("analysis_default", 1, 1),  # it runs on where it is
        ("analysis_priority", 5, 8),
    ]
    assert world.rows("SELECT q.name FROM kombu_group g JOIN kombu_queue q ON q.id = g.queue_id") == [
        {"name": "analysis_priority"}
    ]
    assert ready(world) == jobs[:5]
    assert world.finish(running, user) is Outcome.COMPLETED
    tiers.change_tier(world.uow, user, Tier.FREE, world.policy, actor="test", now=world.now)
    assert [tuple(row.values()) for row in world.rows(queues)] == [("analysis_default", 7, 8)]
    for job_id in jobs:
        assert ready(world)[0] == job_id
        run(world, user, job_id)
    assert world.value("SELECT count(*) FROM kombu_message") == 0


def test_without_limits_nothing_is_held_back(world: World) -> None:
    for mode in (FairnessMode.OFF, FairnessMode.SHADOW):
        free = world.with_policy(fairness=FairnessPolicy(mode=mode))
        user = free.user()
        for _ in range(5):
            free.submit(user)
    assert reasons(world) == [None] * 10


def test_a_user_who_is_woken_job_by_job_takes_turns_with_the_others(world: World) -> None:
    hog, few = world.user(), [world.user() for _ in range(3)]
    flood = [world.submit(hog) for _ in range(12)]
    others = {world.submit(user): user for _ in range(2) for user in few}
    order: list[str] = []
    for _ in range(8):
        job_id = ready(world)[0]
        order.append("hog" if job_id in flood else "few")
        run(world, hog if job_id in flood else others[job_id], job_id, seconds=1)
    assert order.count("hog") == 2


@pytest.mark.proof
@pytest.mark.parametrize("unit", proofs([0.1, 1.0], but=[1.0]))
@pytest.mark.parametrize(("tier", "slots"), [(Tier.FREE, 1), (Tier.ENTERPRISE, 5)])
def test_who_takes_ten_times_as_long_is_given_a_tenth_of_the_jobs(
    world: World, tier: Tier, slots: int, unit: float
) -> None:
    slow, quick = world.user(tier, analyses=200), world.user(tier, analyses=200)
    of_slow = [world.submit(slow) for _ in range(40)]
    for _ in range(80):
        world.submit(quick)
    taken = {slow: 0.0, quick: 0.0}
    for _ in range(66):
        job_id = ready(world)[0]
        user, seconds = (slow, 10 * unit) if job_id in of_slow else (quick, unit)
        taken[user] += seconds
        world = run(world, user, job_id, seconds=seconds)
    # as many of the first ones as were handed out had their place before anything was measured
    early = 10 * unit * (slots + 1)
    assert 0.4 < (taken[slow] - early) / (sum(taken.values()) - early) < 0.6


def test_how_long_jobs_took_is_remembered_of_their_user_whatever_they_ended_in(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    later = replace(world, now=world.now + timedelta(seconds=10))
    later.fail(delivery, user, Failure("x", "x"))
    assert world.value("SELECT run_seconds FROM users WHERE id = :id", id=user) == 10
    delivery = later.running(user)
    replace(later, now=later.now + timedelta(seconds=20)).finish(delivery, user)
    assert world.rows("SELECT run_seconds, run_deviation FROM users WHERE id = :id", id=user) == [
        {"run_seconds": 12.0, "run_deviation": 6.0}
    ]


def test_tiers_weigh_in_the_share_of_a_queue(world: World) -> None:
    pro, enterprise = world.user(Tier.PRO), world.user(Tier.ENTERPRISE)
    mine = [[world.submit(user) for _ in range(4)] for user in (pro, enterprise)]
    assert [job_id in mine[1] for job_id in ready(world)[:6]].count(True) == 4


@pytest.mark.parametrize("mode", [FairnessMode.OFF, FairnessMode.SHADOW])
def test_jobs_that_an_earlier_setting_parked_are_released_when_a_worker_begins(
    world: World, mode: FairnessMode
) -> None:
    users_ = [world.user() for _ in range(2)]
    for user in users_:
        world.running(user)
        jobs = [world.submit(user) for _ in range(6)]
        assert world.start(world.lease(jobs[0]), user) is Outcome.SNOOZED
    assert ready(world) == []
    assert change_limits.release_held(world.uow, world.policy) == 0
    assert ready(world) == []
    free = world.with_policy(fairness=FairnessPolicy(mode))
    assert change_limits.release_held(free.uow, free.policy) == 12
    assert len(ready(world)) == 12
    assert world.value(GROUPS) == 0


@pytest.mark.parametrize("mode", [FairnessMode.OFF, FairnessMode.SHADOW])
def test_without_limits_one_start_releases_all_that_is_parked_of_its_user(world: World, mode: FairnessMode) -> None:
    user = world.user()
    jobs = [world.submit(user) for _ in range(6)]
    assert len(ready(world)) == 2
    free = world.with_policy(fairness=FairnessPolicy(mode))
    assert free.start(world.lease(jobs[0]), user) is Outcome.STARTED
    assert ready(world) == jobs[1:]
