"""Which tests of one file belong together on two sides.  Time grows with the number of rows, hardly faster.

A test is known by its index: its place among the tests of its file.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

Row = Mapping[str, Any]
#: indexes of a test on both sides
Pair = tuple[int, int]
#: what a test is called: its suites and name
Key = tuple[tuple[str, ...], str]

WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
#: words that any two tests may share
NOISE: Final = frozenset({"test", "tests", "it", "should", "when", "with", "the", "a", "an", "and", "is", "of", "to"})
#: lines of a test whose extent is a sign of its own
LONG: Final = 3


def key_of(row: Row) -> Key:
    """What a test is called."""
    return tuple(row["suites"]), row["name"]


def in_order(old: Sequence[int], new: Sequence[int]) -> tuple[list[Pair], list[int], list[int]]:
    """Tests of one key: the first with the first.  Also what is left of both sides.

    old, new: a number for the key of each test.
    """
    waiting: dict[int, deque[int]] = defaultdict(deque)
    for index, key in enumerate(old):
        waiting[key].append(index)
    pairs: list[Pair] = []
    come: list[int] = []
    for index, key in enumerate(new):
        same = waiting.get(key)
        if same:
            pairs.append((same.popleft(), index))
        else:
            come.append(index)
    return pairs, [index for indexes in waiting.values() for index in indexes], come


def by_place(
    old: Sequence[Row], new: Sequence[Row], pairs: Sequence[Pair], gone: Sequence[int], come: Sequence[int]
) -> list[Pair]:
    """Tests that were renamed, of those that are left: put under another suite, or between the same neighbours.

    old, new: all tests of the file; pairs: those of one key.
    """
    found = list(_under_other_suites(old, new, gone, come))
    gone = without(gone, (one for one, _ in found))
    come = without(come, (other for _, other in found))
    before = _by_neighbour(old, [one for one, _ in pairs], gone)
    behind = _by_neighbour(new, [other for _, other in pairs], come)
    for neighbour, others in behind.items():
        ones = before.get(neighbour, [])
        if len(ones) == len(others):
            found += [(a, b) for a, b in zip(ones, others, strict=True) if is_likely(old[a], new[b])]
    return found


def without(indexes: Sequence[int], taken: Iterable[int]) -> list[int]:
    """Indexes that are left."""
    others = set(taken)
    return [index for index in indexes if index not in others]


def _under_other_suites(
    old: Sequence[Row], new: Sequence[Row], gone: Sequence[int], come: Sequence[int]
) -> Iterator[Pair]:
    """Tests whose name is the only one of its kind on both sides."""
    before, behind = Counter(old[index]["name"] for index in gone), Counter(new[index]["name"] for index in come)
    there = {new[index]["name"]: index for index in come}
    for index in gone:
        name = old[index]["name"]
        if before[name] == behind[name] == 1:
            yield index, there[name]


def _by_neighbour(rows: Sequence[Row], known: Sequence[int], left: Sequence[int]) -> dict[int, list[int]]:
    """Tests that are left, by the number of the known one before them, -1 for none."""
    places = sorted((_place(rows[index]), number) for number, index in enumerate(known))
    found: dict[int, list[int]] = defaultdict(list)
    for place, index in sorted((_place(rows[index]), index) for index in left):
        before = bisect_left(places, (place, -1)) - 1
        found[places[before][1] if before >= 0 else -1].append(index)
    return found


def _place(row: Row) -> tuple[int, int]:
    return row["line"], row.get("column", 1)


def is_likely(old: Row, new: Row) -> bool:
    """Whether one test at the place of another is that test: in the same suites, alike in name or in extent."""
    if old["suites"] != new["suites"] or old.get("kind") != new.get("kind"):
        return False
    extents = [row.get("end_line", row["line"]) - row["line"] for row in (old, new)]
    if extents[0] == extents[1] >= LONG:
        return True
    words = [{word.lower() for word in WORD.findall(row["name"])} - NOISE for row in (old, new)]
    return not words[0].isdisjoint(words[1])
