"""Compare the checks of tests with those that the tests ran, as a collector of their runner wrote them down.

    python packages/testlist/tools/checks_agreement.py REPOSITORY RAN

REPOSITORY is a work tree, of whose HEAD the tests ran.  RAN is of executed_asserts.py, which sees statements `assert`
of Python, or of one of the executed_checks_*; that of Rust sees `assert` macros and `#[should_panic]`.  Prints how many
checks that stand in a test itself were run (precision), and how many of those that were run are known (recall), with
what differs; then tests of which checks are known, also in functions that they call, and none was run, and the reverse;
and runs that belong to no test whose body is known.
"""

import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from testlist import Inventory, Source, Test, fetched, inventory, resolve
from testlist.model import Checks

#: lines of decorators, with which a function begins for Python
DECORATORS = 40
#: lines with checks that a collector sees, of some languages and of the others: of these no condition of a `fail()`
WRITTEN = {
    ".py": re.compile(r"\s*assert "),
    ".rs": re.compile(r".*\b(?:debug_)?assert(?:_eq|_ne)?\s*!|.*#\[should_panic"),
    ".go": re.compile(""),
}
SEEN = re.compile(r"(?!\s*(?:\}\s*)?(?:else\s*)?(?:(?:if|elsif|unless|try|begin)\b|flunk\b.*\b(?:if|unless)\b))")
#: a file and a line
Place = tuple[str, int]
#: file -> what its tests ran
Ran = dict[str, list[dict[str, Any]]]


class Compared(NamedTuple):
    """One test that passed.

    places: of its runs; said, ran: lines with checks; through: lines that led to others; known, counted: all of both.
    """

    test: Test
    places: set[Place]
    said: set[int]
    ran: set[int]
    through: set[int]
    known: int
    counted: int


def main(repository: Path, ran: Path) -> None:
    """The command."""
    runs = executed(repository, ran)
    found = list(compared(repository, taken(repository), runs))
    said = held = right = known = 0
    for one in found:
        said, held, known = said + len(one.said), held + len(one.ran), known + len(one.said & one.ran)
        right += len(one.said & (one.ran | one.through))
        for line in sorted((one.said - one.ran - one.through) | (one.ran - one.said)):
            print("not run" if line in one.said else "unknown", f"{one.test.file}:{line}")
    told = {
        "known, none run": [place for one in found if one.known and not one.counted for place in one.places],
        "run, none known": [place for one in found if one.counted and not one.known for place in one.places],
        "of no known body": sorted(places(runs) - {place for one in found for place in one.places}),
    }
    for what, those in told.items():
        for file, number in those:
            print(what, f"{file}:{number}")
    precision, recall = right / max(1, said), known / max(1, held)
    print(f"{len(found)} tests, {said} checks, {held} run, precision {precision:.4f}, recall {recall:.4f}")
    print("tests:", ", ".join(f"{what} {len(those)}" for what, those in told.items()))


def places(runs: Ran) -> set[Place]:
    """Where the tests that ran stand, as the runner says."""
    return {(file, one["line"]) for file, those in runs.items() for one in those}


def taken(repository: Path) -> Inventory:
    """The inventory of HEAD, with checks."""
    source = Source.local(repository)
    commit, _ = resolve(source, None)
    with tempfile.TemporaryDirectory() as work, fetched(source, commit, workdir=Path(work)) as opened:
        return inventory(opened, checks=True)


def executed(repository: Path, ran: Path) -> Ran:
    """What the collector wrote down: a list, or one object a line."""
    written = ran.read_text()
    found: Ran = defaultdict(list)
    for one in json.loads(written) if written.startswith("[") else map(json.loads, written.splitlines()):
        path = Path(one["file"])
        if path.is_relative_to(repository):
            found[path.relative_to(repository).as_posix()].append(one)
    return found


def compared(repository: Path, found: Inventory, ran: Ran) -> Iterator[Compared]:
    """The tests that ran and whose bodies are known."""
    for file in found.files:
        begun = {test.line for test in file.tests}
        seen = visible(repository / file.path) if file.path in ran else set()
        for test, checks in zip(file.tests, file.checks, strict=True):
            runs = [one for one in ran.get(file.path, []) if is_run(test, one, begun)]
            if checks is not None and runs:
                own = seen & span(test, begun)
                lines, through = numbers(runs, "lines"), numbers(runs, "through")
                count = sum(one.get("count", len(one["lines"])) for one in runs)
                where = {(test.file, one["line"]) for one in runs}
                told = lines_of(checks, lines, test) & seen
                yield Compared(test, where, told, lines & (own | told), through, len(checks.checks), count)


def is_run(test: Test, run: dict[str, Any], begun: set[int]) -> bool:
    """Whether a test is what ran.  begun: lines in which tests of the file begin.

    Runners tell the line of a test, and of one with a table where that ends; Python that of the first decorator, and
    Rust where a macro that makes one is called.
    """
    if test.file.endswith(".py"):
        return bool(run["name"] == test.name and 0 <= test.line - run["line"] <= DECORATORS)
    if test.file.endswith(".rs") and test.line == test.end_line:
        return bool(run["name"] == test.name)
    within = test.line <= run["line"] <= test.end_line
    return within and bool(run["line"] == test.line or run["line"] not in begun)


def span(test: Test, begun: set[int]) -> set[int]:
    """Lines of a test.  That of one which a macro of Rust makes is its name's: what it is given follows it."""
    later = [line for line in begun if line > test.line]
    is_given = test.file.endswith(".rs") and test.line == test.end_line and later
    return set(range(test.line, min(later) if is_given else test.end_line + 1))


def visible(path: Path) -> set[int]:
    """Lines of a file whose checks a collector can see."""
    lines = enumerate(path.read_text(errors="replace").splitlines(), 1)
    seen = WRITTEN.get(path.suffix, SEEN)
    return {number for number, line in lines if seen.match(line)}


def numbers(runs: list[dict[str, Any]], key: str) -> set[int]:
    """Lines of one kind, of all runs of a test."""
    return {int(line) for one in runs for line in one.get(key, ())}


def lines_of(checks: Checks, ran: set[int], test: Test) -> set[int]:
    """Lines of the checks that stand in a test itself, without those of `fail()` that were not run.

    Also in functions within the test, which it calls.  Of a test that passes `fail()` says nothing: what calls it does
    not pass.
    """
    here = range(test.line, test.end_line + 1)
    own = [check for check in checks.checks if "by" not in check or ("file" not in check and check["line"] in here)]
    return {check["line"] for check in own if check["relation"] != "fails" or check["line"] in ran}


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
