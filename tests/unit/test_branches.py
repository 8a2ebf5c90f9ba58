"""Places of commits on a branch are in the order of its history, whatever the commits' dates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from app.domain.branches import places

DAY = datetime(2026, 11, 1, tzinfo=UTC)


def on(day: int) -> datetime:
    return DAY + timedelta(days=day)


def test_a_commit_stands_where_it_was_made() -> None:
    members = {"c": True, "b": True, "side": False, "a": True}
    made = {"a": on(1), "b": on(2), "side": on(2), "c": on(3)}
    assert places(members, made) == {"a": on(1), "b": on(2), "side": None, "c": on(3)}


def test_a_commit_after_one_of_the_future_stands_just_behind_it() -> None:
    future = on(3000)
    found = places({"head": True, "future": True, "first": True}, {"first": on(1), "future": future, "head": on(2)})
    assert found == {"first": on(1), "future": future, "head": future + timedelta(microseconds=1)}


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.integers(1, 20))
def test_places_stay_in_order_while_a_branch_grows_of_which_only_the_end_is_read(days: list[int], seen: int) -> None:
    history = [f"{number}" for number in range(len(days))]  # oldest first
    made = {commit: on(day) for commit, day in zip(history, days, strict=True)}
    stood: dict[str, datetime] = {}
    for grown in range(1, len(history) + 1):
        by_date = sorted(history[:grown], key=made.__getitem__)[-seen:]
        by_place = sorted(stood, key=stood.__getitem__)[-seen:]
        window = [one for one in history[:grown] if one in {*by_date, *by_place, history[grown - 1]}]
        found = places(dict.fromkeys(reversed(window), True), made | stood)
        stood |= {commit: at for commit, at in found.items() if at}
        assert sorted(stood, key=stood.__getitem__) == history[:grown]
