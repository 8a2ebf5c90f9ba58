"""Rows of many files in little memory: those of a file are packed, and of each row only its key and status are at hand.

A row as a dict takes some 700 bytes, packed some 20 (2026-11).  What is packed never leaves the process, so it is
marshalled, which takes a sixth of the time of JSON.
"""

import marshal
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import lt
from typing import Any, NamedTuple

from testlist.reports.matching_tests import Key, Row, key_of


class Listed(NamedTuple):
    """One file of an inventory.  tests: its rows; skipped: why it could not be read."""

    path: str
    blob_id: str
    tests: Sequence[Row]
    skipped: str | None = None


@dataclass(slots=True)
class Book:
    """One file, packed.  Rows are in their order of place, without subtests; keys, statuses: of each."""

    path: str
    blob_id: str
    skipped: str | None
    packed: bytes
    keys: "array[int] | memoryview[int]"  # the class takes no parameter before Python 3.12
    statuses: bytes
    first: int = 0  # number of its first row on the shelf

    @property
    def numbers(self) -> range:
        """The numbers of its rows."""
        return range(self.first, self.first + len(self.keys))

    @property
    def names(self) -> frozenset[int]:
        """What its tests are called."""
        return frozenset(self.keys)


class Packer:
    """Packs files of both sides, so that equal statuses have equal numbers."""

    def __init__(self) -> None:
        self._statuses: dict[str, int] = {}

    def books(self, files: Iterable[Listed]) -> list[Book]:
        """One for each file, by path."""
        return sorted((self._book(file) for file in files), key=lambda book: book.path)

    def _book(self, file: Listed) -> Book:
        rows = [row for row in file.tests if row.get("kind") != "subtest"]
        lines = [row["line"] for row in rows]
        if not all(map(lt, lines, lines[1:])):
            rows.sort(key=_place)
        return Book(
            file.path,
            file.blob_id,
            file.skipped,
            zlib.compress(marshal.dumps(rows), 1),
            array("q", [hash(key_of(row)) for row in rows]),
            bytes([self._statuses.setdefault(row["status"], len(self._statuses)) for row in rows]),
        )


class Shelf:
    """Books in a row.  The number of a row says where it is: by path, line and column.

    keys: of each row, equal for equal names; statuses: equal on both sides for equal ones.
    """

    def __init__(self, books: Sequence[Book]) -> None:
        self.books = books
        self.keys = array("q")
        self._firsts = array("q")
        for book in books:
            book.first = len(self.keys)
            self._firsts.append(book.first)
            self.keys.extend(book.keys)
        keys = memoryview(self.keys)
        for book in books:  # which need no keys of their own any more
            book.keys = keys[book.first : book.first + len(book.keys)]
        self.statuses = b"".join(book.statuses for book in books)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.keys)

    def book(self, number: int) -> Book:
        """The one that holds a row."""
        return self.books[bisect_right(self._firsts, number) - 1]

    def path(self, number: int) -> str:
        """The file of a row."""
        return self.book(number).path

    def pick(self, numbers: Sequence[int]) -> list[Row]:
        """Rows of any order; each book is opened once."""
        picked: dict[int, Row] = {}
        for first, inside in groupby(sorted(set(numbers)), lambda number: self.book(number).first):
            rows = opened(self.book(first))
            picked.update((number, rows[number - first]) for number in inside)
        return [picked[number] for number in numbers]

    def having(self, part: str) -> bytearray:
        """For each row whether its path, suites or name have these letters, which are lower case, without case."""
        found = bytearray(self.size)
        for book in self.books:
            in_path = part in book.path.lower()
            for number, row in zip(book.numbers, opened(book), strict=True):
                found[number] = in_path or part in " ".join((*row["suites"], row["name"])).lower()
        return found


def opened(book: Book) -> list[dict[str, Any]]:
    """Its rows, each of which says where it stands."""
    rows = marshal.loads(zlib.decompress(book.packed))  # noqa: S302 - packed by this process
    return [{"file": book.path, **row} for row in rows]


def parts(numbers: Sequence[int], size: int = 1000) -> Iterator[Sequence[int]]:
    """Some at a time."""
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]


def _place(row: Row) -> tuple[int, int, Key]:
    return row["line"], row.get("column", 1), key_of(row)
