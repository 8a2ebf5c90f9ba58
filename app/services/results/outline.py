"""Where in a result the tests of a filter are.  It is read once; every page then costs as little as the first."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple
from uuid import UUID

from app.domain.directories import directories
from app.services.jobs.visibility import read_result
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.store.results import results
from app.store.results.results import TestFilter


class Tally(NamedTuple):
    """How many tests there are of one kind.

    checks: as of a TestFilter; tests: of all; matching: under the filter.
    """

    framework: str
    status: str
    kind: str
    conditional: bool
    checks: str
    tests: int
    matching: int


class OutlinePart(NamedTuple):
    """The files of a page.  skip: matching tests at their beginning that are on earlier pages."""

    files: Sequence[int]
    skip: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The outline of a result under a filter.

    files: ordinals of files with matching tests, in order; until: cumulative number of matching tests; directories:
    matching tests, without subtests, below a few of them.
    """

    tallies: Sequence[Tally]
    files: Sequence[int]
    until: Sequence[int]
    directories: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Matching tests."""
        return self.until[-1] if self.until else 0

    def part(self, before: int, most: int) -> OutlinePart:
        """The files that contain `most` tests after the first `before`."""
        first = bisect_right(self.until, before)
        last = bisect_left(self.until, before + most)
        return OutlinePart(self.files[first : last + 1], before - (self.until[first - 1] if first else 0))

    def counts(self) -> dict[int, int]:
        """Matching tests by the ordinal of their file."""
        before = [0, *self.until]
        return {file: self.until[place] - before[place] for place, file in enumerate(self.files)}

    def behind(self, file: int, most: int) -> Sequence[int]:
        """The files that contain the next `most` tests, the first of which is read in part."""
        first = bisect_left(self.files, file)
        read = self.until[first] if first < len(self.until) and self.files[first] == file else 0
        read = read or (self.until[first - 1] if first else 0)
        return self.files[first : bisect_left(self.until, read + most) + 1]


def outline(uow: UnitOfWork, job_id: UUID, viewer: Account | None, wanted: TestFilter, *, now: datetime) -> Outline:
    """Read the whole result once.  Raises: NotFound, Conflict while the analysis has not completed."""
    found = read_result(uow, job_id, viewer, lambda tx: results.outline(tx, job_id, wanted), now=now)
    return Outline(
        [Tally(**row) for row in found.tallies],
        array("i", found.files),
        array("i", accumulate(found.counts)),
        directories(found.directories),
    )
