"""Numbers of tests of each kind, for the charts of a result and the choices of its filters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

SUBTEST = "subtest"


@dataclass(frozen=True, slots=True)
class ResultCounts:
    """Numbers of all tests; subtests only where they are named.

    frameworks: framework -> status -> tests; conditional: tests that run only under a condition; subtests: matching
    ones.
    """

    statuses: Counter[str] = field(default_factory=Counter)
    frameworks: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    kinds: Counter[str] = field(default_factory=Counter)
    conditional: int = 0
    subtests: int = 0

    @classmethod
    def of(cls, tallies: Iterable[Any]) -> Self:
        """tallies: rows framework, status, kind, conditional, tests, matching."""
        found, conditional, subtests = cls(), 0, 0
        for row in tallies:
            found.kinds[row.kind] += row.tests
            conditional += row.tests if row.conditional else 0
            if row.kind == SUBTEST:
                subtests += row.matching
            else:
                found.statuses[row.status] += row.tests
                found.frameworks[row.framework][row.status] += row.tests
        return cls(found.statuses, found.frameworks, found.kinds, conditional, subtests)
