"""Parameters in two tiers: a few that run before each commit, and the others, which are marked `proof`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

import pytest
from _pytest.mark import ParameterSet

Case = TypeVar("Case")


def proofs(cases: Iterable[Case], *, but: Collection[Case]) -> list[object]:
    """Parameters of a test of which only a few are in the first tier.

    Raises ValueError if one of these few is not among the cases.
    """
    cases = list(cases)
    if strangers := [one for one in but if one not in cases]:
        raise ValueError(f"not among the cases: {strangers}")
    return [one if one in but else pytest.param(one, marks=pytest.mark.proof) for one in cases]


def few(first: int, cases: Iterable[Any]) -> list[ParameterSet]:
    """Parameters of a test of which only the first ones are in the first tier: a tuple is of several names."""
    sets = [_param(one) for one in cases]
    return [
        *sets[:first],
        *(pytest.param(*one.values, marks=[*one.marks, pytest.mark.proof], id=one.id) for one in sets[first:]),
    ]


def _param(case: Any) -> ParameterSet:
    if isinstance(case, ParameterSet):
        return case
    return pytest.param(*case) if isinstance(case, tuple) else pytest.param(case)
