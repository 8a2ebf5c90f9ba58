"""What became of the tests between two inventories: added, removed, moved, renamed, with another status.

Works on rows, so that stored results can be compared as well as fresh ones.  Subtests are part of their test and
are not compared; nor are files that could not be read on one of the two sides, for nobody knows what is in them.
Rows are packed (`shelf`) and opened a file at a time, so two inventories of 100,000 tests fit.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from testlist.model import Inventory
from testlist.reports.matching import Row, by_place, in_order, key_of, likely_files
from testlist.reports.packed_rows import Book, Listed, Packer, Shelf, opened
from testlist.reports.row_views import Change, Changes, Rows

#: groups of changes, in the order they are shown in
GROUPS = ("added", "removed", "moved", "renamed", "status_changed")


@dataclass(slots=True)
class Comparison:
    """added, removed: rows.  The others: tests of both sides; one that was renamed in a moved file is renamed.

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
    gone, come = array("q"), array("q")
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


def matched(old: Sequence[Row], new: Sequence[Row]) -> tuple[list[Change], list[Row], list[Row]]:
    """Tests of a file with what they became in it; those that are gone; those that have come."""
    pairs, gone, come = in_order(old, new)
    further, gone, come = by_place(pairs, gone, come)
    return [Change(*pair) for pair in (*pairs, *further)], gone, come


def _matched(found: Comparison, one: Book, other: Book, gone: "array[int]", come: "array[int]") -> None:
    old, new = opened(one), opened(other)
    numbers = {id(row): number for number, row in zip((*one.numbers, *other.numbers), (*old, *new), strict=True)}
    changes, left, new_ones = matched(old, new)
    for change in changes:
        found.note(
            numbers[id(change.before)],
            numbers[id(change.after)],
            is_renamed=key_of(change.before) != key_of(change.after),
            is_moved=one.path != other.path,
            is_switched=change.before["status"] != change.after["status"],
        )
    gone.extend(numbers[id(row)] for row in left)
    come.extend(numbers[id(row)] for row in new_ones)


def _elsewhere(found: Comparison, old: Shelf, gone: "array[int]", new: Shelf, come: "array[int]") -> None:
    """Tests of one name in different files: the first with the first.  Both sides are sorted, as a table is large."""
    lost, won = sorted(sorted(gone), key=old.key), sorted(sorted(come), key=new.key)
    here = there = 0
    while here < len(lost) and there < len(won):
        before, after = lost[here], won[there]
        key, other = old.key(before), new.key(after)
        if key == other:
            moved, switched = old.book(before).path != new.book(after).path, old.status(before) != new.status(after)
            found.note(before, after, is_renamed=False, is_moved=moved, is_switched=switched)
        elif key < other:
            found.removed.add(before)
        else:
            found.added.add(after)
        here, there = here + (key <= other), there + (other <= key)
    for number in lost[here:]:
        found.removed.add(number)
    for number in won[there:]:
        found.added.add(number)
