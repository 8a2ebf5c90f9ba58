"""The keys that two sides have in common."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from testlist.reports.common_keys import common_keys

KEYS = st.integers(-(2**63), 2**63 - 1) | st.integers(-40, 40)


@given(st.lists(KEYS), st.lists(KEYS))
def test_they_are_those_of_both_sides(some: list[int], others: list[int]) -> None:
    assert common_keys(iter(some), iter(others)) == set(some) & set(others)
