"""Rolling billing periods, computed from the anchor (docs/adr/0005)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from dateutil.relativedelta import relativedelta
from hypothesis import given
from hypothesis import strategies as st

from app.domain.periods import Period, months_after, period_at

TICK = timedelta(microseconds=1)
#: 1975 to 2134
INSTANTS = st.timedeltas(timedelta(days=2_000), timedelta(days=60_000)).map(datetime(1970, 1, 1, tzinfo=UTC).__add__)
#: the clamp bites on these days only, so they are drawn as often as all others
ANCHORS = INSTANTS | st.builds(
    lambda at, day: at.replace(month=1, day=day), INSTANTS, st.integers(min_value=28, max_value=31)
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("anchor", "now", "start", "end"),
    [
        ("2026-01-15", "2026-01-15", "2026-01-15", "2026-02-15"),
        ("2026-01-15", "2026-02-14T23:59:59.999999", "2026-01-15", "2026-02-15"),
        ("2026-01-15", "2026-02-15", "2026-02-15", "2026-03-15"),
        ("2026-01-31", "2026-02-15", "2026-01-31", "2026-02-28"),
        ("2026-01-31", "2026-02-28", "2026-02-28", "2026-03-31"),
        ("2026-01-31", "2026-04-30", "2026-04-30", "2026-05-31"),
        ("2028-01-31", "2028-02-28", "2028-01-31", "2028-02-29"),
        ("2028-01-31", "2028-02-29", "2028-02-29", "2028-03-31"),
        ("2028-02-29", "2029-02-28", "2029-02-28", "2029-03-29"),
        ("2028-02-29", "2032-02-29", "2032-02-29", "2032-03-29"),
        ("2026-12-31", "2027-01-01", "2026-12-31", "2027-01-31"),
        ("2026-01-31T18:30", "2026-02-28T18:29:59", "2026-01-31T18:30", "2026-02-28T18:30"),
        ("2026-05-10", "2026-03-01", "2026-02-10", "2026-03-10"),
        ("2026-03-31", "2026-02-27", "2026-01-31", "2026-02-28"),
    ],
)
def test_the_period_of_an_instant(anchor: str, now: str, start: str, end: str) -> None:
    assert period_at(utc(anchor), utc(now)) == Period(utc(start), utc(end))


def test_a_february_does_not_shorten_the_months_after_it() -> None:
    anchor, starts = utc("2026-01-31"), []
    at = anchor
    for _ in range(6):
        starts.append(at.strftime("%m-%d"))
        at = period_at(anchor, at).end
    assert starts == ["01-31", "02-28", "03-31", "04-30", "05-31", "06-30"]


def test_bounds_are_in_utc_whatever_zone_the_instants_are_written_in() -> None:
    seoul = timezone(timedelta(hours=9))
    anchor = datetime(2026, 3, 1, 8, 0, tzinfo=seoul)  # still 28 February in UTC
    period = period_at(anchor, datetime(2026, 4, 1, tzinfo=seoul))
    assert (period.start, period.end) == (utc("2026-03-28T23:00"), utc("2026-04-28T23:00"))
    assert period.start.tzinfo is UTC


def test_a_period_holds_its_start_and_not_its_end() -> None:
    period = Period(utc("2026-01-01"), utc("2026-02-01"))
    assert period.start in period
    assert period.end - TICK in period
    assert period.end not in period
    assert period.start - TICK not in period


@given(ANCHORS, INSTANTS)
def test_every_instant_lies_in_exactly_one_period(anchor: datetime, now: datetime) -> None:
    period = period_at(anchor, now)
    assert now in period
    assert period_at(anchor, period.start) == period
    assert period_at(anchor, period.end - TICK) == period


@given(ANCHORS, INSTANTS)
def test_consecutive_periods_touch(anchor: datetime, now: datetime) -> None:
    period = period_at(anchor, now)
    assert period_at(anchor, period.end).start == period.end
    assert period_at(anchor, period.start - TICK).end == period.start


@given(ANCHORS, st.integers(min_value=-240, max_value=240))
def test_the_kth_period_starts_k_months_after_the_anchor_clamped_at_short_months(anchor: datetime, k: int) -> None:
    expected = anchor + relativedelta(months=k)
    assert months_after(anchor, k) == expected
    assert period_at(anchor, expected).start == expected


@given(ANCHORS, INSTANTS)
def test_a_period_is_never_shorter_than_february_nor_longer_than_a_month_of_31_days(
    anchor: datetime, now: datetime
) -> None:
    period = period_at(anchor, now)
    assert timedelta(days=28) <= period.end - period.start <= timedelta(days=31)
