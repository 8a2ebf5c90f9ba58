"""How one test changed from commit to commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from app.domain.inventories import Test


@dataclass(frozen=True, slots=True)
class Sighting:
    """A test as it is in an analysed commit.

    at: when it was committed, if that is known, otherwise analysed; tests: those of the name, by line; skipped: why the
    file could not be read, so that nothing is known of them.
    """

    job_id: UUID
    commit: str
    ref: str | None
    at: datetime
    tests: Sequence[Test]
    skipped: str | None

    @property
    def state(self) -> str:
        """The status of the tests, several if they differ; `unknown` if the file was not read, `absent` if none."""
        statuses = sorted({str(test["status"]) for test in self.tests})
        return "unknown" if self.skipped else ", ".join(statuses) or "absent"


@dataclass(frozen=True, slots=True)
class TestPeriod:
    """Consecutive commits with the same state.  before: the commit that precedes them; None at the beginning."""

    state: str
    first: Sighting
    last: Sighting
    commits: int
    before: Sighting | None


def periods(sightings: Iterable[Sighting]) -> list[TestPeriod]:
    """The periods, newest first.  sightings: oldest first."""
    return list(_periods(sightings))[::-1]


def _periods(sightings: Iterable[Sighting]) -> Iterator[TestPeriod]:
    before = None
    for state, group in groupby(sightings, lambda one: one.state):
        members = list(group)
        yield TestPeriod(state, members[0], members[-1], len(members), before)
        before = members[-1]
