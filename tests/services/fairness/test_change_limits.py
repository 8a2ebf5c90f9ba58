"""Limits that operators change while jobs wait and run (docs/adr/0027)."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from app.domain.fairness import FairnessPolicy
from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.errors import Conflict, InvalidInput, NotFound
from app.services.accounts import tiers
from app.services.fairness import change_limits, tenants
from app.services.fairness.change_limits import TierLimit
from app.services.jobs import read_jobs
from app.store.accounts import users
from tests.conftest import World
from tests.services.fairness.test_fair_share import ready


def test_a_higher_limit_of_a_user_wakes_as_many_as_may_run_in_its_commit(world: World) -> None:
    user, other = world.user(), world.user()
    for who in (user, other):
        world.running(who)
    jobs = [world.submit(user) for _ in range(6)]
    held = [world.submit(other) for _ in range(6)]
    assert world.start(world.lease(jobs[0]), user) is Outcome.SNOOZED
    assert world.start(world.lease(held[0]), other) is Outcome.SNOOZED
    assert ready(world) == []
    change_limits.change_user_limit(world.uow, user, 4, world.policy, actor="test")
    assert ready(world) == jobs[:4]
    outcomes = [world.start(world.lease(job_id), user) for job_id in jobs[:4]]
    assert outcomes == [Outcome.STARTED] * 3 + [Outcome.SNOOZED]


def test_a_lower_limit_lets_what_runs_finish_and_starts_nothing_before_there_is_room(world: World) -> None:
    user = world.user()
    change_limits.change_user_limit(world.uow, user, 3, world.policy, actor="test")
    running = [world.running(user) for _ in range(3)]
    waiting = [world.submit(user) for _ in range(2)]
    change_limits.change_user_limit(world.uow, user, 1, world.policy, actor="test")
    for delivery in running[:2]:
        assert world.finish(delivery, user) is Outcome.COMPLETED
        assert world.start(world.lease(ready(world)[0]), user) is Outcome.SNOOZED
    assert world.finish(running[2], user) is Outcome.COMPLETED
    assert world.start(world.lease(ready(world)[0]), user) is Outcome.STARTED
    assert set(ready(world)) <= set(waiting)


def test_a_users_own_limit_wins_over_settings_and_plan_and_is_what_the_job_tells(world: World) -> None:
    narrow = replace(world, policy=replace(world.policy, fairness=FairnessPolicy(slot_limits={Tier.FREE: 1})))
    user = narrow.user()
    change_limits.change_user_limit(narrow.uow, user, 2, narrow.policy, actor="test")
    for _ in range(2):
        narrow.running(user)
    jobs = [narrow.submit(user) for _ in range(4)]
    with narrow.uow.begin() as tx:
        account = users.find(tx, user)
    shown = read_jobs.job(narrow.uow, jobs[-1], account, narrow.policy, now=narrow.now)
    assert (shown.wait.reason, shown.wait.running, shown.wait.limit) == ("user_at_limit", 2, 2)
    [tenant] = tenants.tenants(narrow.uow, narrow.policy)
    assert (tenant.limit, tenant.running) == (2, 2)


def test_a_higher_limit_of_a_tier_reaches_its_waiting_users_and_nobody_else(world: World) -> None:
    free = [world.user() for _ in range(2)]
    paid = world.user()
    tiers.change_tier(world.uow, paid, Tier.PRO, world.policy, actor="test", now=world.now)
    for user in [*free, *[paid] * 3]:
        world.running(user)
    jobs = {user: [world.submit(user) for _ in range(5)] for user in (*free, paid)}
    for user, waiting in jobs.items():
        assert world.start(world.lease(waiting[0]), user) is Outcome.SNOOZED
    assert ready(world) == []
    told = change_limits.change_tier_limit(world.uow, Tier.FREE, 2, world.policy, actor="test")
    assert told == TierLimit(Tier.FREE, 2, 2, by_setting=False)
    assert set(ready(world)) == {*jobs[free[0]][:2], *jobs[free[1]][:2]}


def test_a_lower_limit_of_a_tier_wakes_nobody(world: World) -> None:
    user = world.user()
    change_limits.change_tier_limit(world.uow, Tier.FREE, 3, world.policy, actor="test")
    world.running(user)
    for _ in range(6):
        world.submit(user)
    before = ready(world)
    change_limits.change_tier_limit(world.uow, Tier.FREE, 2, world.policy, actor="test")
    assert ready(world) == before


def test_a_tier_whose_limit_a_setting_decides_is_not_changed(world: World) -> None:
    policy = replace(world.policy, fairness=FairnessPolicy(slot_limits={Tier.PRO: 9}))
    with pytest.raises(Conflict, match="FAIRNESS_PRO_LIMIT=9 determines"):
        change_limits.change_tier_limit(world.uow, Tier.PRO, 2, policy, actor="test")
    told = {limit.tier: limit for limit in change_limits.tier_limits(world.uow, policy)}
    assert told[Tier.PRO] == TierLimit(Tier.PRO, 9, 3, by_setting=True)
    assert world.value("SELECT count(*) FROM audit_log WHERE action = 'plan.limit'") == 0


@pytest.mark.parametrize("slots", [0, -1, 1001])
def test_a_limit_beyond_reason_is_refused_and_changes_nothing(world: World, slots: int) -> None:
    user = world.user()
    with pytest.raises(InvalidInput, match="expected 1 to 1,000"):
        change_limits.change_user_limit(world.uow, user, slots, world.policy, actor="test")
    with pytest.raises(InvalidInput, match="expected 1 to 1,000"):
        change_limits.change_tier_limit(world.uow, Tier.FREE, slots, world.policy, actor="test")
    with pytest.raises(NotFound):
        change_limits.change_user_limit(world.uow, uuid4(), 5, world.policy, actor="test")
    assert world.value("SELECT count(*) FROM audit_log WHERE action LIKE '%.limit'") == 0


def test_a_wait_behind_a_limit_of_ones_own_is_told_as_such(world: World) -> None:
    user = world.user()
    change_limits.change_user_limit(world.uow, user, 2, world.policy, actor="test")
    for _ in range(2):
        world.running(user)
    world.submit(user)
    with world.uow.begin() as tx:
        assert users.own_slot_limits(tx) == {str(user): 2}
        assert users.waiting_of(tx, Tier.FREE) == []
    for _ in range(3):
        world.submit(user)
    with world.uow.begin() as tx:
        assert users.waiting_of(tx, Tier.FREE) == [user]
        assert users.waiting_of(tx, Tier.PRO) == []
