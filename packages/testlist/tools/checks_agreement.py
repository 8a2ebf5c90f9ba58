"""Compare the checks of Python tests with the `assert` statements that their tests ran (executed_asserts.py).

    python packages/testlist/tools/checks_agreement.py REPOSITORY RAN.json

REPOSITORY is a work tree, of whose HEAD the tests ran.  Prints how many checks that an `assert` writes, and that stand
in a test itself, were run (precision), and how many of those that were run are known (recall), with what differs.
"""

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from testlist import Inventory, Source, Test, fetched, inventory, resolve
from testlist.model import Checks

#: lines of decorators, with which a function begins for Python
DECORATORS = 40
#: (file, name) -> what tests of this name ran
Ran = dict[tuple[str, str], list[dict[str, Any]]]


def main(repository: Path, ran: Path) -> None:
    """The command."""
    tests = said = held = both = 0
    for test, ours, theirs in compared(repository, taken(repository), executed(repository, ran)):
        tests, said, held, both = tests + 1, said + len(ours), held + len(theirs), both + len(ours & theirs)
        for line in sorted(ours ^ theirs):
            print("not run" if line in ours else "unknown", f"{test.file}:{line}")
    precision, recall = both / max(1, said), both / max(1, held)
    print(f"{tests} tests, {said} checks, {held} run, precision {precision:.4f}, recall {recall:.4f}")


def taken(repository: Path) -> Inventory:
    """The inventory of HEAD, with checks."""
    source = Source.local(repository)
    commit, _ = resolve(source, None)
    with tempfile.TemporaryDirectory() as work, fetched(source, commit, workdir=Path(work)) as opened:
        return inventory(opened, checks=True)


def executed(repository: Path, ran: Path) -> Ran:
    """What the plugin wrote down."""
    found: Ran = defaultdict(list)
    for one in json.loads(ran.read_text()):
        path = Path(one["file"])
        if path.is_relative_to(repository):
            found[path.relative_to(repository).as_posix(), one["name"]].append(one)
    return found


def compared(repository: Path, found: Inventory, ran: Ran) -> Iterator[tuple[Test, set[int], set[int]]]:
    """Lines of `assert` statements: the test that ran, those of it that are known, and those that were run."""
    for file in found.files:
        source = (repository / file.path).read_text(errors="replace").splitlines() if file.tests else []
        asserts = {number for number, line in enumerate(source, 1) if line.lstrip().startswith("assert ")}
        for test, checks in zip(file.tests, file.checks, strict=True):
            runs = [one for one in ran.get((test.file, test.name), []) if 0 <= test.line - one["line"] <= DECORATORS]
            if checks is not None and runs:
                own = asserts & set(range(test.line, test.end_line + 1))
                yield test, lines_of(checks) & asserts, {int(line) for one in runs for line in one["lines"]} & own


def lines_of(checks: Checks) -> set[int]:
    """Lines of the checks that stand in a test itself."""
    return {check["line"] for check in checks.checks if "by" not in check}


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
