"""Which files and tests of two inventories belong together.  Time grows with the number of rows, hardly faster."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

Row = Mapping[str, Any]
#: suites and name of a test
Key = tuple[tuple[str, ...], str]
Pair = tuple[Row, Row]

#: a test that more files have than this tells nothing about which of them is which
COMMON: Final = 16
#: share of tests that two files must have in common to be the same file under another name
ALIKE: Final = 0.5
WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
#: words that any two tests may share
NOISE: Final = frozenset({"test", "tests", "it", "should", "when", "with", "the", "a", "an", "and", "is", "of", "to"})
#: lines of a test whose extent is a sign of its own
LONG: Final = 3


class File(Protocol):
    """What is known of a file."""

    @property
    def blob_id(self) -> str:
        """Its content."""

    @property
    def names(self) -> frozenset[int]:
        """What its tests are called: a number for each name."""


def key_of(row: Row) -> Key:
    """What a test is called."""
    return tuple(row["suites"]), row["name"]


def likely_files(gone: Mapping[str, File], come: Mapping[str, File]) -> list[tuple[str, str]]:
    """Files that were renamed: of the same content first, then with mostly the same tests."""
    pairs = list(_same_content(gone, come))
    old = gone.keys() - {path for path, _ in pairs}
    new = come.keys() - {target for _, target in pairs}
    for _, path, target in sorted(_shares(gone, come, old, new)):
        if path in old and target in new:
            old -= {path}
            new -= {target}
            pairs.append((path, target))
    return pairs


def _same_content(gone: Mapping[str, File], come: Mapping[str, File]) -> Iterator[tuple[str, str]]:
    """Of several files with one content those of one name belong together."""
    by_name: dict[tuple[str, str], deque[str]] = defaultdict(deque)
    by_blob: dict[str, deque[str]] = defaultdict(deque)
    for target, file in come.items():
        by_name[file.blob_id, target.rpartition("/")[2]].append(target)
    left = []
    for path, file in gone.items():
        same = by_name[file.blob_id, path.rpartition("/")[2]]
        if same:
            yield path, same.popleft()
        else:
            left.append(path)
    for (blob_id, _), targets in by_name.items():
        by_blob[blob_id].extend(targets)
    for path in left:
        if by_blob[gone[path].blob_id]:
            yield path, by_blob[gone[path].blob_id].popleft()


def _shares(
    gone: Mapping[str, File], come: Mapping[str, File], old: Iterable[str], new: Iterable[str]
) -> Iterator[tuple[float, str, str]]:
    """(negative share, path, path there) of files with enough tests in common."""
    paths = sorted(old)
    sizes = [len(gone[path].names) for path in paths]
    # most names are of one file: a list for each of 100,000 would take 20 MB
    first: dict[int, int] = {}
    further: dict[int, list[int]] = defaultdict(list)
    for place, path in enumerate(paths):
        for name in gone[path].names:
            if first.setdefault(name, place) != place:
                further[name].append(place)
    for target in sorted(new):
        names = come[target].names
        known = [name for name in names if name in first and len(further.get(name, ())) < COMMON]
        common = Counter(place for name in known for place in (first[name], *further.get(name, ())))
        for place, count in common.items():
            share = 2 * count / (len(names) + sizes[place])
            if share >= ALIKE:
                yield -share, paths[place], target


def in_order(old: Iterable[Row], new: Iterable[Row]) -> tuple[list[Pair], list[Row], list[Row]]:
    """Tests of one name: the first with the first.  Also what is left of both sides."""
    waiting: dict[Key, deque[Row]] = defaultdict(deque)
    for row in old:
        waiting[key_of(row)].append(row)
    pairs: list[Pair] = []
    come: list[Row] = []
    for row in new:
        same = waiting.get(key_of(row))
        if same:
            pairs.append((same.popleft(), row))
        else:
            come.append(row)
    return pairs, [row for rows in waiting.values() for row in rows], come


def by_place(
    pairs: Sequence[Pair], gone: Sequence[Row], come: Sequence[Row]
) -> tuple[list[Pair], list[Row], list[Row]]:
    """Tests of one file that were renamed, and what is left: under another suite, or between the same neighbours."""
    if not gone or not come:
        return [], list(gone), list(come)
    found = list(_under_other_suites(gone, come))
    gone, come = _without(gone, found, 0), _without(come, found, 1)
    before = _by_neighbour([pair[0] for pair in pairs], gone)
    behind = _by_neighbour([pair[1] for pair in pairs], come)
    for neighbour, rows in behind.items():
        others = before.get(neighbour, [])
        if len(others) == len(rows):
            found += [pair for pair in zip(others, rows, strict=True) if is_likely(*pair)]
    return found, _without(gone, found, 0), _without(come, found, 1)


def _without(rows: Sequence[Row], pairs: Iterable[Pair], side: int) -> list[Row]:
    taken = {id(pair[side]) for pair in pairs}
    return [row for row in rows if id(row) not in taken]


def _under_other_suites(gone: Sequence[Row], come: Sequence[Row]) -> Iterator[Pair]:
    """Tests whose name is the only one of its kind on both sides."""
    old, new = (Counter(row["name"] for row in rows) for rows in (gone, come))
    there = {row["name"]: row for row in come}
    yield from ((row, there[row["name"]]) for row in gone if old[row["name"]] == new[row["name"]] == 1)


def _by_neighbour(known: Sequence[Row], rows: Sequence[Row]) -> dict[int, list[Row]]:
    """Rows by the number of the known one before them, -1 for none."""
    places = sorted((_place(row), number) for number, row in enumerate(known))
    found: dict[int, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=_place):
        before = bisect_left(places, (_place(row), -1)) - 1
        found[places[before][1] if before >= 0 else -1].append(row)
    return found


def _place(row: Row) -> tuple[int, int]:
    return row["line"], row.get("column", 1)


def is_likely(old: Row, new: Row) -> bool:
    """Whether one test at the place of another is that test: in the same suites, alike in name or in extent."""
    if old["suites"] != new["suites"] or old.get("kind") != new.get("kind"):
        return False
    extents = [row.get("end_line", row["line"]) - row["line"] for row in (old, new)]
    words = [{word.lower() for word in WORD.findall(row["name"])} - NOISE for row in (old, new)]
    return bool(words[0] & words[1]) or extents[0] == extents[1] >= LONG
