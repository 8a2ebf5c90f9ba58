"""A comparison as its page lists it: one line for each change, filtered, a sheet at a time."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from testlist.reports.compare import GROUPS, Comparison, compare
from testlist.reports.packed_rows import Listed

from app.domain.inventories import Test
from app.services.results.read_differences import Sides
from app.web.core.schemas import ChangesQuery

SIZE = 100  # changes on a sheet


class ChangeLine(NamedTuple):
    """One change.  before, after: the test on both sides, None where it does not exist."""

    group: str
    before: Test | None
    after: Test | None

    @property
    def place(self) -> Test:
        """The row with the place: the newer one, if there is one."""
        return self.after or self.before or {}


@dataclass(frozen=True, slots=True)
class Changes:
    """One sheet of a comparison.  matching: lines by group under the search; total: of the shown group, or of all."""

    lines: list[ChangeLine]
    number: int
    of: int
    total: int
    matching: Mapping[str, int]
    directories: Mapping[str, int]


def comparison(sides: Sides) -> Comparison:
    """The changes of every test; tests in equal files are unchanged."""
    found = compare(*((Listed(*file) for file in side) for side in (sides.before, sides.after)))
    found.unchanged += sides.unchanged
    return found


def changes(found: Comparison, query: ChangesQuery) -> Changes:
    """The requested sheet, or the last one if there are fewer."""
    matching = _matching(found, query.q.lower())
    shown = {group: indexes for group, indexes in matching.items() if query.group in (None, group)}
    total = sum(map(len, shown.values()))
    of = max(1, -(-total // SIZE))
    number = min(query.page, of)
    return Changes(
        list(_sheet(found, shown, (number - 1) * SIZE)),
        number,
        of,
        total,
        {group: len(indexes) for group, indexes in matching.items()},
        Counter(
            getattr(found, group).path(index).rpartition("/")[0] or "." for group in shown for index in shown[group]
        ),
    )


def _sheet(found: Comparison, shown: Mapping[str, Sequence[int]], before: int) -> Iterator[ChangeLine]:
    """The lines of a sheet, group by group; a change in two groups comes twice."""
    left = SIZE
    for group, indexes in shown.items():
        for index in indexes[before : before + left]:
            yield _line(group, getattr(found, group)[index])
        left -= len(indexes[before : before + left])
        before = max(0, before - len(indexes))


def _line(group: str, change: Any) -> ChangeLine:
    if group == "added":
        return ChangeLine(group, None, change)
    if group == "removed":
        return ChangeLine(group, change, None)
    return ChangeLine(group, change.before, change.after)


def _matching(found: Comparison, part: str) -> dict[str, Sequence[int]]:
    """Indexes of the changes of each group in which path, suite or name of a side contains these letters."""
    if not part:
        return {group: range(len(getattr(found, group))) for group in GROUPS}
    old, new = found.removed.shelf.having(part), found.added.shelf.having(part)
    rows = {"added": (found.added.numbers, new), "removed": (found.removed.numbers, old)}
    matching: dict[str, Sequence[int]] = {
        group: array("i", (index for index, number in enumerate(numbers) if has[number]))
        for group, (numbers, has) in rows.items()
    }
    for group in GROUPS[2:]:
        pairs = zip(getattr(found, group).before.numbers, getattr(found, group).after.numbers, strict=True)
        matching[group] = array("i", (i for i, (one, other) in enumerate(pairs) if old[one] or new[other]))
    return matching
