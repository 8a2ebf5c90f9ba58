"""The two tiers of the suite: what a developer runs before each commit, and the bounded proofs that CI adds.

`make test` leaves out what is marked `proof`; `make test-all` runs everything.  A rule of the service has a test in the
first tier; the search for its exceptions through many orders, kills, pages or examples may be in the second.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

import pytest

#: Folders whose tests wait for processes more than they compute, the longest first; "tests" is the broker's.
WAITING = ("e2e", "tests", "embedded", "race")

Case = TypeVar("Case")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what waits: xdist gives each worker a half, so that one waits while the other computes."""
    items.sort(key=lambda item: _turn(item.path.parent.name))


def _turn(folder: str) -> int:
    return WAITING.index(folder) if folder in WAITING else len(WAITING)


def proofs(cases: Iterable[Case], *, but: Collection[Case]) -> list[object]:
    """Parameters of a test of which only a few are in the first tier.

    Raises ValueError if one of these few is not among the cases.
    """
    cases = list(cases)
    if strangers := [one for one in but if one not in cases]:
        raise ValueError(f"not among the cases: {strangers}")
    return [one if one in but else pytest.param(one, marks=pytest.mark.proof) for one in cases]
