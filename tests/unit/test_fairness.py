"""How many jobs a user may run, and how long one over the limit sleeps (docs/adr/0004)."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.fairness import FairnessMode, FairnessPolicy
from app.domain.plans import SOLD_PLANS, Plan, Tier

FREE, PRO = Plan(Tier.FREE, 1, 50, 2500, 30), Plan(Tier.PRO, 3, 1000, 50000, 180)
ROLLS = st.floats(min_value=0, max_value=1, exclude_max=True)


@given(ROLLS)
def test_a_snooze_lasts_30_seconds_and_up_to_10_more(roll: float) -> None:
    assert timedelta(seconds=30) <= FairnessPolicy().snooze_delay(roll) <= timedelta(seconds=40)


@given(ROLLS)
def test_zero_jitter_is_legal(roll: float) -> None:
    policy = FairnessPolicy(snooze=timedelta(seconds=5), jitter=timedelta(0))
    assert policy.snooze_delay(roll) == timedelta(seconds=5)


def test_the_roll_moves_the_delay_through_the_whole_jitter() -> None:
    policy = FairnessPolicy(snooze=timedelta(seconds=10), jitter=timedelta(seconds=4))
    assert policy.snooze_delay(0.0) == timedelta(seconds=10)
    assert policy.snooze_delay(0.5) == timedelta(seconds=12)


@pytest.mark.parametrize("plan", SOLD_PLANS, ids=lambda plan: plan.tier)
def test_without_an_override_the_plans_row_counts(plan: Plan) -> None:
    assert FairnessPolicy().slot_limit(plan) == plan.slot_limit


def test_an_override_wins_for_its_own_tier_only() -> None:
    policy = FairnessPolicy(slot_limits={Tier.FREE: 4})
    assert policy.slot_limit(FREE) == 4
    assert policy.slot_limit(PRO) == 3


def test_limits_are_held_unless_somebody_says_otherwise() -> None:
    assert FairnessPolicy().mode is FairnessMode.ENFORCE
