"""used + reserved + requested <= limit (docs/adr/0005)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.plans import EventType, Plan, Tier
from app.domain.quota import Usage

UNITS = st.integers(min_value=0, max_value=10**9)


@pytest.mark.parametrize(
    ("used", "reserved", "limit", "requested", "admitted"),
    [
        (0, 0, 50, 50, True),
        (49, 0, 50, 1, True),
        (0, 49, 50, 1, True),
        (20, 29, 50, 1, True),
        (20, 30, 50, 1, False),
        (50, 0, 50, 0, True),
        (50, 0, 50, 1, False),
        (0, 0, 0, 1, False),
        (60, 0, 50, 1, False),
        (10**9, 10**9, None, 10**9, True),
    ],
)
def test_equality_is_admitted_and_one_unit_more_is_not(
    used: int, reserved: int, limit: int | None, requested: int, admitted: bool
) -> None:
    assert Usage(used, reserved, limit).admits(requested) is admitted


@pytest.mark.parametrize(
    ("used", "reserved", "limit", "free"), [(10, 5, 50, 35), (50, 0, 50, 0), (70, 5, 50, 0), (10, 5, None, None)]
)
def test_free_units_are_never_negative_and_unlimited_is_none(
    used: int, reserved: int, limit: int | None, free: int | None
) -> None:
    assert Usage(used, reserved, limit).free == free


@given(UNITS, UNITS, UNITS)
def test_exactly_the_free_units_are_admitted(used: int, reserved: int, limit: int) -> None:
    usage = Usage(used, reserved, limit)
    assert usage.free is not None
    assert not usage.admits(usage.free + 1)
    assert usage.admits(usage.free)


@pytest.mark.parametrize(
    ("used", "level"),
    [(0, "ok"), (69, "ok"), (70, "warn"), (89, "warn"), (90, "danger"), (99, "danger"), (100, "spent"), (101, "spent")],
)
def test_pages_warn_at_70_and_90_percent_of_what_was_used(used: int, level: str) -> None:
    assert Usage(used, 0, 100).level == level


def test_reserved_units_raise_no_alarm_as_they_may_come_back() -> None:
    assert Usage(0, 100, 100).level == "ok"


def test_a_plan_of_nothing_is_spent_and_an_unlimited_one_never_is() -> None:
    assert Usage(0, 0, 0).level == "spent"
    assert Usage(10**12, 0, None).level == "ok"


def test_a_plan_limits_each_event_type_by_its_own_number() -> None:
    plan = Plan(Tier.PRO, 3, 1000, None, 180)
    assert plan.limit(EventType.ANALYSIS) == 1000
    assert plan.limit(EventType.SPECVIEW) is None
