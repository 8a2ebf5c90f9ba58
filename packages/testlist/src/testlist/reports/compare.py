"""What became of the tests between two inventories: added, removed, moved, renamed, with another status.

Works on rows, so that stored results can be compared as well as fresh ones.  Subtests are part of their test and
are not compared; nor are files that could not be read on one of the two sides, for nobody knows what is in them.
Rows are packed (`shelf`) and opened a file at a time, so two inventories of 100,000 tests fit.
"""

from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

from testlist.model import Inventory
from testlist.reports.common_keys import common_keys
from testlist.reports.matching_files import likely_files
from testlist.reports.matching_tests import by_place, in_order, without
from testlist.reports.packed_rows import Book, Listed, Packer, Shelf, opened
from testlist.reports.row_views import Changes, Rows

#: groups of changes, in the order they are shown in
GROUPS = ("added", "removed", "moved", "renamed", "status_changed")


@dataclass(slots=True)
class Comparison:
    """The changes between two inventories.

    added, removed: rows.  The others: tests of both sides; one that was renamed in a moved file is renamed.

    A test whose status changed may have been moved or renamed as well.  unknown: files left out.
    """

    added: Rows
    removed: Rows
    moved: Changes
    renamed: Changes
    status_changed: Changes
    unchanged: int = 0
    unknown: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, old: Shelf, new: Shelf, unknown: Iterable[str]) -> "Comparison":
        """One without changes."""
        moved, renamed, switched = (Changes(old, new) for _ in range(3))
        return cls(Rows(new), Rows(old), moved, renamed, switched, unknown=sorted(unknown))

    def totals(self) -> dict[str, int]:
        """How many of each."""
        groups = {name: len(getattr(self, name)) for name in GROUPS}
        return {**groups, "unchanged": self.unchanged}

    def document(self, most: int | None = None) -> dict[str, Any]:
        """Render for JSON.  most: rows of each group at most."""
        rows = {name: getattr(self, name)[:most] for name in ("added", "removed")}
        pairs = {
            name: [{"before": dict(one.before), "after": dict(one.after)} for one in getattr(self, name)[:most]]
            for name in ("moved", "renamed", "status_changed")
        }
        return {"totals": self.totals(), **rows, **pairs, "unknown": self.unknown[:most]}

    def note(self, before: int, after: int, *, is_renamed: bool, is_moved: bool, is_switched: bool) -> None:
        """Sort a pair of rows, by their numbers, into its groups."""
        if is_renamed:
            self.renamed.add(before, after)
        elif is_moved:
            self.moved.add(before, after)
        if is_switched:
            self.status_changed.add(before, after)
        elif not is_renamed and not is_moved:
            self.unchanged += 1


def listed(inventory: Inventory) -> Iterator[Listed]:
    """Files of an inventory."""
    for file in inventory.files:
        yield Listed(file.path, file.blob_id, [test.row() for test in file.tests], file.skipped)


def compare(before: Iterable[Listed], after: Iterable[Listed]) -> Comparison:
    """Follow every test from one side to the other.  Each side is read once, one file at a time."""
    packer = Packer()
    sides = packer.books(before), packer.books(after)
    unknown = {book.path for side in sides for book in side if book.skipped}
    old, new = (Shelf([book for book in side if book.path not in unknown]) for side in sides)
    found = Comparison.of(old, new, unknown)
    gone, come = array("i"), array("i")
    for one, other in paired(old, new):
        if one and other:
            _matched(found, one, other, gone, come)
        elif one:
            gone.extend(one.numbers)
        elif other:
            come.extend(other.numbers)
    _elsewhere(found, old, gone, new, come)
    for name in GROUPS:
        getattr(found, name).sort()
    return found


def paired(old: Shelf, new: Shelf) -> Iterator[tuple[Book | None, Book | None]]:
    """Every file with the one it was or became; alone if there is none."""
    gone, come = {book.path: book for book in old.books}, {book.path: book for book in new.books}
    for path in [book.path for book in new.books if book.path in gone]:
        yield gone.pop(path), come.pop(path)
    for path, target in likely_files(gone, come):
        yield gone.pop(path), come.pop(target)
    yield from ((file, None) for file in gone.values())
    yield from ((None, file) for file in come.values())


def _matched(found: Comparison, one: Book, other: Book, gone: "array[int]", come: "array[int]") -> None:
    """Pair the tests of a file that is on both sides, and collect those that are on one only."""
    is_moved = one.path != other.path
    if one.packed == other.packed and not is_moved:
        found.unchanged += len(one.keys)
        return
    pairs, lost, won = in_order(one.keys, other.keys)
    for before, after in pairs:
        _note(found, one, other, before, after, is_renamed=False, is_moved=is_moved)
    if lost and won:
        further = by_place(opened(one), opened(other), pairs, lost, won)
        for before, after in further:
            is_renamed = one.keys[before] != other.keys[after]
            _note(found, one, other, before, after, is_renamed=is_renamed, is_moved=is_moved)
        lost = without(lost, (before for before, _ in further))
        won = without(won, (after for _, after in further))
    gone.extend(one.first + index for index in lost)
    come.extend(other.first + index for index in won)


def _note(
    found: Comparison, one: Book, other: Book, before: int, after: int, *, is_renamed: bool, is_moved: bool
) -> None:
    is_switched = one.statuses[before] != other.statuses[after]
    found.note(
        one.first + before, other.first + after, is_renamed=is_renamed, is_moved=is_moved, is_switched=is_switched
    )


def _ascending(numbers: "array[int]", below: int) -> Iterator[int]:
    """Different numbers in their order: a sorted list of 500,000 would take 20 MB."""
    marks = bytearray(below)
    for number in numbers:
        marks[number] = 1
    return compress(range(below), marks)


def _elsewhere(found: Comparison, old: Shelf, gone: "array[int]", new: Shelf, come: "array[int]") -> None:
    """Tests of one name in different files: the first with the first."""
    waiting: dict[int, deque[int]] = {}
    kept = common_keys((old.keys[number] for number in gone), (new.keys[number] for number in come))
    for number in _ascending(gone, old.size):
        if old.keys[number] in kept:
            waiting.setdefault(old.keys[number], deque()).append(number)
        else:
            found.removed.add(number)
    for number in _ascending(come, new.size):
        same = waiting.get(new.keys[number])
        if not same:
            found.added.add(number)
            continue
        before = same.popleft()
        moved, switched = old.path(before) != new.path(number), old.statuses[before] != new.statuses[number]
        found.note(before, number, is_renamed=False, is_moved=moved, is_switched=switched)
    for numbers in waiting.values():
        for number in numbers:
            found.removed.add(number)
