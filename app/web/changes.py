"""A comparison, and as its page lists it: one line for each change, narrowed, a sheet at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.services.compared import Sides
from app.web.schemas import ChangesQuery
from tasks.inventory.compare import GROUPS, Comparison, Listed, compare

SIZE = 100  # changes on a sheet

Test = Mapping[str, Any]


class Line(NamedTuple):
    """One change.  before, after: the test on both sides, None where it is not there."""

    group: str
    before: Test | None
    after: Test | None

    @property
    def place(self) -> Test:
        """The row that says where it is: the newer one, if there is one."""
        return self.after or self.before or {}

    def has(self, part: str) -> bool:
        """Whether a path, suite or name on a side has these letters, without case."""
        return any(part in text.lower() for row in (self.before, self.after) if row for text in _texts(row))


@dataclass(frozen=True, slots=True)
class Changes:
    """One sheet.  matching: lines by group under the search; total: of the group that is shown, or of all."""

    lines: list[Line]
    number: int
    of: int
    total: int
    matching: Mapping[str, int]
    directories: Mapping[str, int]


def comparison(sides: Sides) -> Comparison:
    """What became of every test; in a file that is alike on both sides each is as it was."""
    found = compare(*([Listed(*file) for file in side] for side in (sides.before, sides.after)))
    found.unchanged += sides.unchanged
    return found


def changes(found: Comparison, asked: ChangesQuery) -> Changes:
    """The sheet that was asked for; the last one where there are not so many."""
    part = asked.q.lower()
    every = [line for line in lines(found) if not part or line.has(part)]
    shown = [line for line in every if asked.group in (None, line.group)]
    of = max(1, -(-len(shown) // SIZE))
    number = min(asked.page, of)
    return Changes(
        shown[(number - 1) * SIZE : number * SIZE],
        number,
        of,
        len(shown),
        Counter(line.group for line in every),
        Counter(line.place["file"].rpartition("/")[0] or "." for line in shown),
    )


def lines(found: Comparison) -> Iterator[Line]:
    """Every change, group by group; one that is of two groups comes twice."""
    for group in GROUPS:
        for change in getattr(found, group):
            if group == "added":
                yield Line(group, None, change)
            elif group == "removed":
                yield Line(group, change, None)
            else:
                yield Line(group, change.before, change.after)


def _texts(row: Test) -> Iterator[str]:
    yield row["file"]
    yield " ".join((*row["suites"], row["name"]))
