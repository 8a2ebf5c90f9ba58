"""Slots, snoozes and wakes, one commit each (docs/adr/0004)."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest

from app.domain.fairness import FairnessMode, FairnessPolicy
from app.domain.lifecycle import Failure, Outcome
from app.domain.plans import Tier
from app.services.accounts import tiers
from app.services.analyses.reschedule import reschedule
from app.services.jobs import read_jobs
from app.services.jobs.cancel import cancel
from app.store.accounts import users
from tests.conftest import World

SLOTS = "SELECT count(*) FROM execution_slots"


@pytest.mark.parametrize(("tier", "limit"), [(Tier.FREE, 1), (Tier.PRO, 3), (Tier.PRO_PLUS, 3), (Tier.ENTERPRISE, 5)])
def test_a_user_runs_as_many_jobs_as_the_tier_allows_and_snoozes_the_next(world: World, tier: Tier, limit: int) -> None:
    user = world.user(tier)
    outcomes = [world.start(world.lease(world.submit(user)), user) for _ in range(limit + 2)]
    assert outcomes == [Outcome.STARTED] * limit + [Outcome.SNOOZED] * 2
    assert world.value(SLOTS) == limit


def test_a_snooze_spends_no_attempt_and_is_shown_as_waiting_with_its_reason(world: World) -> None:
    user = world.user()
    world.running(user)
    job_id = world.submit(user)
    assert world.start(world.lease(job_id), user) is Outcome.SNOOZED
    (row,) = world.rows("SELECT * FROM kombu_message WHERE task_id = :id", id=str(job_id))
    assert (row["snooze_count"], row["retry_count"], row["lost_count"], row["delay_reason"]) == (1, 0, 0, "snooze")
    assert world.status(job_id) == "waiting"


def test_the_tier_is_read_when_the_job_starts_not_when_it_was_accepted(world: World) -> None:
    user = world.user(Tier.FREE)
    world.running(user)
    second = world.submit(user)
    tiers.change_tier(world.uow, user, Tier.PRO, world.policy, actor="test", now=world.now)
    assert world.start(world.lease(second), user) is Outcome.STARTED


def test_a_downgrade_lets_running_jobs_finish_and_starts_nothing_new_until_below(world: World) -> None:
    user = world.user(Tier.PRO)
    running = [world.running(user) for _ in range(3)]
    tiers.change_tier(world.uow, user, Tier.FREE, world.policy, actor="test", now=world.now)
    for delivery in running:
        assert world.start(world.lease(world.submit(user)), user) is Outcome.SNOOZED
        assert world.finish(delivery, user) is Outcome.COMPLETED
    assert world.start(world.lease(world.submit(user)), user) is Outcome.STARTED


def test_an_upgrade_wakes_the_jobs_that_waited_for_a_slot(world: World) -> None:
    user = world.user(Tier.FREE)
    world.running(user)
    waiting = [world.submit(user) for _ in range(2)]
    for job_id in waiting:
        world.start(world.lease(job_id), user)
    tiers.change_tier(world.uow, user, Tier.PRO, world.policy, actor="test", now=world.now)
    assert [world.status(job_id) for job_id in waiting] == ["queued", "queued"]


@pytest.mark.parametrize("how", ["completed", "failed", "retried"])
def test_every_way_out_frees_the_slot_and_wakes_the_oldest_waiting_job(world: World, how: str) -> None:
    user = world.user()
    first = world.running(user)
    waiting = [world.submit(user) for _ in range(3)]
    for job_id in reversed(waiting):
        assert world.start(world.lease(job_id), user) is Outcome.SNOOZED
    if how == "completed":
        world.finish(first, user)
    else:
        world.fail(first, user, Failure("x", "x", retryable=how == "retried"))
    assert world.value(SLOTS) == 0
    assert [world.status(job_id) for job_id in waiting] == ["queued", "waiting", "waiting"]


def test_a_woken_job_that_is_cancelled_before_it_starts_leaves_its_slot_to_the_next(world: World) -> None:
    user = world.user()
    first = world.running(user)
    waiting = [world.submit(user) for _ in range(3)]
    for job_id in waiting:
        assert world.start(world.lease(job_id), user) is Outcome.SNOOZED
    world.finish(first, user)
    with world.uow.begin() as tx:
        account = users.find(tx, user)
    assert account is not None
    cancel(world.uow, waiting[0], account, world.policy, now=world.now)
    assert [world.status(job_id) for job_id in waiting] == ["cancelled", "queued", "waiting"]
    cancel(world.uow, waiting[2], account, world.policy, now=world.now)  # held no slot, wakes nobody
    assert [world.status(job_id) for job_id in waiting] == ["cancelled", "queued", "cancelled"]


def test_snoozes_are_still_told_when_the_job_has_ended(world: World) -> None:
    user = world.user()
    first, second = world.running(user), world.submit(user)
    for _ in range(2):
        world.start(world.lease(second), user)
    world.finish(first, user)
    delivery = world.lease(second)
    world.start(delivery, user)
    world.finish(delivery, user)
    assert read_jobs.job(world.uow, second, None, world.policy, now=world.now).snoozes == 2


def test_starting_a_delivery_again_takes_no_second_slot(world: World) -> None:
    user = world.user(Tier.PRO)
    delivery = world.running(user)
    assert world.start(delivery, user) is Outcome.STARTED
    assert world.value(SLOTS) == 1


def test_a_dead_workers_slot_is_free_as_soon_as_its_message_was_taken_back(world: World) -> None:
    user = world.user()
    lost = world.running(user)
    world.lose(lost.job_id)
    other = world.lease(world.submit(user))
    assert world.start(other, user) is Outcome.STARTED
    assert world.start(world.lease(lost.job_id), user) is Outcome.SNOOZED


def test_system_jobs_bypass_the_limit_and_take_no_slot(world: World) -> None:
    world.submit(world.user(), world.wanted("garden"))  # viewed, and never analysed
    assert reschedule(world.uow, lambda _: ("c" * 40, "main"), world.policy, now=world.now).enqueued == 1
    [row] = world.rows("SELECT job_id FROM analysis_requests WHERE trigger = 'scheduled'")
    assert world.start(world.lease(UUID(str(row["job_id"]))), None) is Outcome.STARTED
    assert world.value(SLOTS) == 0


def test_limits_hold_between_users_and_one_users_jobs_never_count_for_another(world: World) -> None:
    one, other = world.user(), world.user()
    world.running(one)
    world.running(other)
    assert world.value(SLOTS) == 2


def test_shadow_mode_records_what_it_would_have_snoozed_and_starts_it(world: World) -> None:
    world = world.with_policy(fairness=FairnessPolicy(mode=FairnessMode.SHADOW))
    user = world.user()
    jobs = [world.running(user) for _ in range(3)]
    shadows = world.rows("SELECT job_id FROM job_events WHERE event = 'snooze_shadow' ORDER BY id")
    assert [row["job_id"] for row in shadows] == [delivery.job_id for delivery in jobs[1:]]


def test_an_environment_limit_wins_over_the_plans_row(world: World) -> None:
    world = world.with_policy(fairness=FairnessPolicy(slot_limits={Tier.FREE: 2}))
    user = world.user()
    outcomes = [world.start(world.lease(world.submit(user)), user) for _ in range(3)]
    assert outcomes == [Outcome.STARTED, Outcome.STARTED, Outcome.SNOOZED]


def test_starts_of_one_user_in_parallel_never_pass_the_limit_and_no_wake_is_lost(world: World) -> None:
    user = world.user(Tier.PRO)
    deliveries = [world.lease(world.submit(user)) for _ in range(16)]
    barrier = Barrier(16)

    def begin(delivery: Any) -> tuple[Outcome, UUID]:
        barrier.wait()
        outcome = world.start(delivery, user)
        if outcome is Outcome.STARTED:
            world.finish(delivery, user)
        return outcome, delivery.job_id

    with ThreadPoolExecutor(16) as threads:
        outcomes = list(threads.map(begin, deliveries))
    started = [job_id for outcome, job_id in outcomes if outcome is Outcome.STARTED]
    waiting = world.value("SELECT count(*) FROM kombu_message WHERE delay_reason IN ('snooze', 'parked')")
    woken = world.value("SELECT count(*) FROM kombu_message WHERE visible")
    assert len(started) + int(str(waiting)) + int(str(woken)) == 16
    # each finish wakes one: somebody waits only as long as somebody finished before them had nobody to wake
    assert int(str(woken)) >= min(1, 16 - len(started))
