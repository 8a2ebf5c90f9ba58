"""Numbers of tests of each kind, for the charts of a result and the choices of its filters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from app.services.results.outline import Tally

SUBTEST = "subtest"


@dataclass(frozen=True, slots=True)
class ResultCounts:
    """Numbers of tests; subtests only where they are named.

    frameworks: framework -> status -> tests; conditional: tests that run only under a condition.
    """

    statuses: Counter[str] = field(default_factory=Counter)
    frameworks: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    kinds: Counter[str] = field(default_factory=Counter)
    conditional: int = 0

    @property
    def subtests(self) -> int:
        """How many subtests there are."""
        return self.kinds[SUBTEST]

    @classmethod
    def of_all(cls, tallies: Iterable[Tally]) -> Self:
        """The numbers of the whole result, for the choices of its filters."""
        return cls._of((row, row.tests) for row in tallies)

    @classmethod
    def matching(cls, tallies: Iterable[Tally]) -> Self:
        """The numbers of what is under the filter, for the charts."""
        return cls._of((row, row.matching) for row in tallies if row.matching)

    @classmethod
    def _of(cls, counted: Iterable[tuple[Tally, int]]) -> Self:
        found, conditional = cls(), 0
        for row, tests in counted:
            found.kinds[row.kind] += tests
            conditional += tests if row.conditional else 0
            if row.kind != SUBTEST:
                found.statuses[row.status] += tests
                found.frameworks[row.framework][row.status] += tests
        return cls(found.statuses, found.frameworks, found.kinds, conditional)
