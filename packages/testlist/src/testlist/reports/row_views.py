"""Rows and pairs of rows by their numbers on a shelf: as long as they are, only those that are looked at are opened."""

from array import array
from collections.abc import Iterator, Sequence
from operator import le
from typing import NamedTuple, overload

from testlist.reports.matching_tests import Row
from testlist.reports.packed_rows import Shelf, parts


class Change(NamedTuple):
    """One test on both sides."""

    before: Row
    after: Row


class Rows(Sequence[Row]):
    """Tests of one side."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.numbers = array("i")

    def add(self, number: int) -> None:
        """Take a row up."""
        self.numbers.append(number)

    def sort(self) -> None:
        """Sort the rows by place."""
        if not all(map(le, self.numbers, self.numbers[1:])):  # a list of them takes five times as much
            self.numbers = array("i", sorted(self.numbers))

    def path(self, index: int) -> str:
        """The file of a row."""
        return self.shelf.book(self.numbers[index]).path

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return self.shelf.pick(self.numbers[index])
        return self.shelf.pick([self.numbers[index]])[0]

    def __iter__(self) -> Iterator[Row]:
        for part in parts(self.numbers):
            yield from self.shelf.pick(part)


class Changes(Sequence[Change]):
    """Tests of both sides."""

    def __init__(self, old: Shelf, new: Shelf) -> None:
        self.before, self.after = Rows(old), Rows(new)

    def add(self, before: int, after: int) -> None:
        """Take a pair up."""
        self.before.add(before)
        self.after.add(after)

    def sort(self) -> None:
        """Sort the pairs by the place of the newer test."""
        order = sorted(range(len(self)), key=self.after.numbers.__getitem__)
        for rows in (self.before, self.after):
            rows.numbers = array("i", (rows.numbers[index] for index in order))

    def path(self, index: int) -> str:
        """The newer file of a pair."""
        return self.after.path(index)

    def __len__(self) -> int:
        return len(self.after)

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> list[Change]: ...
    def __getitem__(self, index: int | slice) -> Change | list[Change]:
        if isinstance(index, slice):
            return [Change(*pair) for pair in zip(self.before[index], self.after[index], strict=True)]
        return Change(self.before[index], self.after[index])

    def __iter__(self) -> Iterator[Change]:
        return map(Change, self.before, self.after)
