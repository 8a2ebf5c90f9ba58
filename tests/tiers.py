"""The two tiers of the suite: what a developer runs before each commit, and the bounded proofs that CI adds.

`make test` leaves out what is marked `proof`; `make test-all` runs everything.  A rule of the service has a test in the
first tier; the search for its exceptions through many orders, kills, pages or examples may be in the second.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from testlist_harness.tiers import proofs

__all__ = ["proofs", "pytest_collection_modifyitems"]

#: Folders whose tests wait for processes more than they compute, the longest first.
WAITING = ("e2e", "celery-durable", "embedded", "race")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what waits: xdist gives each worker a half, so that one waits while the other computes."""
    items.sort(key=lambda item: _turn(item.path))


def _turn(path: Path) -> int:
    return next((turn for turn, folder in enumerate(WAITING) if folder in path.parts), len(WAITING))
