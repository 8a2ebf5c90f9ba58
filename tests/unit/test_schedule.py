"""How often a repository is analysed again, and the slots of schedules (docs/adr/0013)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.schedule import MAX_FAILURES, interval_for, is_due, slot_start

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HOUR, DAY, TICK = timedelta(hours=1), timedelta(days=1), timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INSTANTS = st.timedeltas(DAY, 80_000 * DAY).map(EPOCH.__add__)  # 1970 to 2189
INTERVALS = st.timedeltas(timedelta(seconds=1), timedelta(days=30))


@pytest.mark.parametrize(
    ("days", "interval"),
    [
        (0, 6 * HOUR), (1, 6 * HOUR), (7, 6 * HOUR),
        (8, 12 * HOUR), (14, 12 * HOUR),
        (15, 24 * HOUR), (30, 24 * HOUR),
        (31, 3 * DAY), (60, 3 * DAY),
        (61, 7 * DAY), (90, 7 * DAY),
        (91, None), (1000, None),
    ],
)  # fmt: skip
def test_the_interval_by_whole_days_since_the_last_view(days: int, interval: timedelta | None) -> None:
    assert interval_for(NOW - timedelta(days=days), NOW) == interval
    assert interval_for(NOW - timedelta(days=days + 1) + TICK, NOW) == interval


def test_a_view_in_the_future_is_no_view() -> None:
    assert interval_for(NOW + TICK, NOW) is None
    assert not is_due(NOW + TICK, None, NOW)


def test_a_repository_never_analysed_is_due_at_once_if_somebody_looked() -> None:
    assert is_due(NOW - DAY, None, NOW)
    assert not is_due(NOW - 91 * DAY, None, NOW)


def test_the_next_run_is_due_exactly_one_interval_after_the_last_end() -> None:
    viewed = NOW - DAY
    assert is_due(viewed, NOW - 6 * HOUR, NOW)
    assert not is_due(viewed, NOW - 6 * HOUR + TICK, NOW)


@given(st.timedeltas(timedelta(0), 100 * DAY), st.timedeltas(timedelta(0), 100 * DAY))
def test_the_longer_ago_the_view_the_rarer_the_runs(one: timedelta, other: timedelta) -> None:
    recent, old = (interval_for(NOW - ago, NOW) or timedelta.max for ago in sorted((one, other)))
    assert recent <= old


def test_five_failures_in_a_row_stop_a_schedule() -> None:
    assert MAX_FAILURES == 5


@given(INSTANTS, INTERVALS, st.timedeltas(timedelta(0), DAY))
def test_a_slot_begins_at_or_before_now_and_less_than_one_interval_ago(
    now: datetime, every: timedelta, offset: timedelta
) -> None:
    slot = slot_start(now, every, offset)
    assert slot <= now < slot + every
    assert (slot - EPOCH - offset) % every == timedelta(0)


@given(INSTANTS, INTERVALS)
def test_every_instant_of_a_slot_gives_the_same_slot(now: datetime, every: timedelta) -> None:
    slot = slot_start(now, every)
    assert slot_start(slot, every) == slot
    assert slot_start(slot + every - TICK, every) == slot
    assert slot_start(slot + every, every) == slot + every


def test_a_daily_slot_with_an_offset_is_at_that_time_of_the_day() -> None:
    assert slot_start(NOW, DAY, 3 * HOUR) == datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
    assert slot_start(NOW.replace(hour=2), DAY, 3 * HOUR) == datetime(2026, 11, 20, 3, 0, tzinfo=UTC)
