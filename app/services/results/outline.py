"""Where in a result the tests of a filter are: read once, and each of its pages is then as cheap as the first."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple
from uuid import UUID

from app.services.jobs.visibility import check_completed
from app.store import results
from app.store.results import TestFilter
from app.store.unit_of_work import UnitOfWork
from app.store.users import Account


class Tally(NamedTuple):
    """How many tests there are of one sort.  tests: of all; matching: under the filter."""

    framework: str
    status: str
    kind: str
    conditional: bool
    tests: int
    matching: int


class Part(NamedTuple):
    """Files that hold a page.  skip: matching tests at their beginning that are on pages before it."""

    files: Sequence[int]
    skip: int


@dataclass(frozen=True, slots=True)
class Outline:
    """Of a result under a filter.

    files: ordinals of files with matching tests, in order; until: matching tests up to and with each of them.
    """

    tallies: Sequence[Tally]
    files: Sequence[int]
    until: Sequence[int]

    @property
    def total(self) -> int:
        """Matching tests."""
        return self.until[-1] if self.until else 0

    def part(self, before: int, most: int) -> Part:
        """The files that hold `most` tests after the first `before`."""
        first = bisect_right(self.until, before)
        last = bisect_left(self.until, before + most)
        return Part(self.files[first : last + 1], before - (self.until[first - 1] if first else 0))

    def behind(self, file: int, most: int) -> Sequence[int]:
        """The files that hold the next `most` tests, where the first of them is read in part."""
        first = bisect_left(self.files, file)
        read = self.until[first] if first < len(self.until) and self.files[first] == file else 0
        read = read or (self.until[first - 1] if first else 0)
        return self.files[first : bisect_left(self.until, read + most) + 1]


def outline(uow: UnitOfWork, job_id: UUID, viewer: Account | None, wanted: TestFilter, *, now: datetime) -> Outline:
    """Go through the whole result once.  Raises: NotFound, Conflict while the analysis is not completed."""
    with uow.begin() as tx:
        check_completed(tx, job_id, viewer, now=now)
        found = results.outline(tx, job_id, wanted)
    return Outline(
        [Tally(**row) for row in found.tallies], array("i", found.files), array("i", accumulate(found.counts))
    )
