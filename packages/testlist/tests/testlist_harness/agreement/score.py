"""How well an inventory agrees with what a runner lists: both as definitions, matched one to one by file, line and name."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from testlist import Test

T = TypeVar("T")


class Listed(NamedTuple):
    """A definition as the runner lists it.

    line: 0 where the runner does not say; name: suites and title, None where one definition has several at run time; statuses: those that
    fit what the runner says, empty where it says nothing.
    """

    file: str
    line: int
    column: int
    name: tuple[str, ...] | None
    framework: str
    statuses: frozenset[str]


@dataclass(frozen=True, slots=True)
class Score:
    """Shares are percent; of nothing, 100."""

    matched: tuple[tuple[Test, Listed], ...]
    too_many: tuple[Test, ...]
    missed: tuple[Listed, ...]

    @property
    def precision(self) -> float:
        """Of the inventory's rows, those that the runner lists."""
        return share(len(self.matched), len(self.matched) + len(self.too_many))

    @property
    def recall(self) -> float:
        """Of what the runner lists, those that are in the inventory."""
        return share(len(self.matched), len(self.matched) + len(self.missed))

    @property
    def files(self) -> tuple[float, float]:
        """Precision and recall of the files that have tests at all."""
        ours = {test.file for test, _ in self.matched} | {test.file for test in self.too_many}
        theirs = {row.file for _, row in self.matched} | {row.file for row in self.missed}
        return share(len(ours & theirs), len(ours)), share(len(ours & theirs), len(theirs))

    @property
    def names(self) -> float:
        """Of the matched whose title is known before they run, those of one name."""
        return agreement(name_of(test) == squeezed(row.name) for test, row in self.matched if told(test, row))

    @property
    def status(self) -> float:
        """Of the matched whose status no condition decides, those of one status."""
        sure = [(test, row) for test, row in self.matched if row.statuses and not test.conditional]
        return agreement(test.status in row.statuses for test, row in sure)

    @property
    def framework(self) -> float:
        """Of the matched, those of one framework."""
        return agreement(test.framework == row.framework for test, row in self.matched)

    def __str__(self) -> str:
        """Render on one line."""
        precision, recall = self.files
        rows = len(self.matched) + len(self.missed)
        return (
            f"{rows} listed, precision {self.precision:.2f}, recall {self.recall:.2f}, files {precision:.2f} and "
            f"{recall:.2f}, names {self.names:.2f}, status {self.status:.2f}, framework {self.framework:.2f}"
        )

    def differences(self, most: int = 40) -> str:
        """Some of the rows that are on one side only, or differ in status."""
        lines = [f"too many: {test.file}:{test.line} {' > '.join((*test.suites, test.name))}" for test in self.too_many]
        lines += [f"missed: {row.file}:{row.line} {' > '.join(row.name or ('…',))}" for row in self.missed]
        lines += [
            f"status: {test.file}:{test.line} is {test.status}, listed as {' or '.join(sorted(row.statuses))}"
            for test, row in self.matched
            if row.statuses and not test.conditional and test.status not in row.statuses
        ]
        return "\n".join(lines[:most])


def compare(tests: Iterable[Test], listed: Sequence[Listed]) -> Score:
    """Match one to one within each file: line and name, then line and column, then line.

    Last by name what the runner has no line of, and by its span what stands within a dynamic row.
    """
    ours = [test for test in tests if test.kind != "subtest"]
    theirs, matched = list(listed), list[tuple[Test, Listed]]()
    steps: list[tuple[Callable[[Test], Hashable], Callable[[Listed], Hashable]]] = [
        (lambda test: (test.file, test.line, name_of(test)), lambda row: (row.file, row.line, squeezed(row.name))),
        (lambda test: (test.file, test.line, test.column), lambda row: (row.file, row.line, row.column)),
        (lambda test: (test.file, test.line), lambda row: (row.file, row.line)),
        (lambda test: (test.file, 0, name_of(test)), lambda row: (row.file, row.line, squeezed(row.name))),
    ]
    for of_test, of_row in steps:
        pool = defaultdict[Hashable, list[Test]](list)
        for test in ours:
            pool[of_test(test)].append(test)
        pairs = [(pool[of_row(row)].pop(0), row) for row in theirs if pool[of_row(row)]]
        matched += pairs
        ours, theirs = without(ours, [test for test, _ in pairs]), without(theirs, [row for _, row in pairs])
    for row in tuple(theirs):  # runners report `each(table)(title, fn)` at its last call
        spans = [
            test for test in ours if test.dynamic and test.file == row.file and test.line <= row.line <= test.end_line
        ]
        if spans:
            matched.append((min(spans, key=lambda test: test.end_line - test.line), row))
            ours, theirs = without(ours, [matched[-1][0]]), without(theirs, [row])
    return Score(tuple(matched), tuple(ours), tuple(theirs))


def without(rows: list[T], used: Sequence[T]) -> list[T]:
    gone = {id(row) for row in used}
    return [row for row in rows if id(row) not in gone]


def told(test: Test, row: Listed) -> bool:
    return row.name is not None and not test.dynamic


def name_of(test: Test) -> str:
    return squeezed((*test.suites, test.name))


def squeezed(name: tuple[str, ...] | None) -> str:
    return " ".join(" > ".join(name or ()).split())


def agreement(equal: Iterable[bool]) -> float:
    each = list(equal)
    return share(sum(each), len(each))


def share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 100.0
