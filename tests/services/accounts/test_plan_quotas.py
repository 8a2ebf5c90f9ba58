"""What operators change of a plan: who, from what, to what; and from when it holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.domain.plans import Tier
from app.errors import InvalidInput
from app.services.accounts import plans
from tests.conftest import World

Fairlane = Any
LOG = "SELECT actor, subject, facts FROM audit_log WHERE action = 'plan.quota' ORDER BY id"


def test_a_lower_quota_holds_from_the_next_submission_on(world: World) -> None:
    user = world.user()
    world.submit(user)
    after = plans.change_quota(world.uow, Tier.FREE, {"analyses_per_period": 1}, actor="ann")
    assert (after.analyses_per_period, after.spec_units_per_period) == (1, 2_500)
    with pytest.raises(Exception, match="of 1 units"):
        world.submit(user, world.wanted(commit="b" * 40))
    plans.change_quota(world.uow, Tier.FREE, {"analyses_per_period": None}, actor="ann")
    world.submit(user, world.wanted(commit="b" * 40))


def test_a_change_is_in_the_audit_log_and_none_is_not(world: World) -> None:
    plans.change_quota(world.uow, Tier.PRO, {"retention_days": 10, "spec_units_per_period": None}, actor="ann")
    plans.change_quota(world.uow, Tier.PRO, {"retention_days": 10}, actor="bob")
    [row] = world.rows(LOG)
    changed = {"retention_days": [180, 10], "spec_units_per_period": [50_000, None]}
    assert (row["actor"], row["subject"], row["facts"]) == ("ann", "pro", {"changed": changed})


@pytest.mark.parametrize(
    ("member", "value"), [("retention_days", 0), ("analyses_per_period", -1), ("spec_units_per_period", 2**31)]
)
def test_what_no_plan_can_have_is_refused_and_changes_nothing(world: World, member: str, value: int) -> None:
    with pytest.raises(InvalidInput, match=rf"{member} cannot be {value}.*expected"):
        plans.change_quota(world.uow, Tier.FREE, {"analyses_per_period": 7, member: value}, actor="ann")
    assert plans.plan_of(world.uow, Tier.FREE).analyses_per_period == 50
    assert world.rows(LOG) == []


def test_the_command_shows_and_changes_what_is_given(fairlane: Fairlane) -> None:
    shown = json.loads(fairlane("tier", "quota", "free", "--json").output)
    assert shown == {
        "tier": "free", "analyses_per_period": 50, "spec_units_per_period": 2_500, "retention_days": 30,
    }  # fmt: skip
    changed = fairlane("tier", "quota", "free", "--analyses", "unlimited", "--retention-days", "7")
    assert changed.output.splitlines() == [
        "tier: free", "analyses_per_period: unlimited", "spec_units_per_period: 2500", "retention_days: 7",
    ]  # fmt: skip
    refused = fairlane("tier", "quota", "free", "--analyses", "many")
    assert (refused.exit_code, "expected a whole number from 0 on, or `unlimited`" in refused.output) == (2, True)
    refused = fairlane("tier", "quota", "free", "--retention-days", "0")
    assert (refused.exit_code, "expected 1 to" in refused.output) == (1, True)
