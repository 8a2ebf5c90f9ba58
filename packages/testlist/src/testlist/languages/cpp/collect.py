"""Rows of C++ tests, made of facts."""

from collections.abc import Iterator
from typing import NamedTuple

from testlist.kit import rows
from testlist.languages.cpp.shape import PartFact, TestFact
from testlist.model import Test


class Around(NamedTuple):
    """What surrounds a test or a part: its suites, and what it is if it says nothing itself."""

    suites: tuple[str, ...]
    status: str = "active"
    depends: bool = False


def tests(path: str, framework: str, fact: TestFact) -> Iterator[Test]:
    """One test and its parts."""
    suites = tuple(fact["suites"])
    if framework == "doctest":
        suites = suites[-1:]  # the innermost is the only one doctest keeps
    test = row(path, framework, fact, Around(suites), kind="test")._replace(cases=fact.get("cases"))
    yield test
    for part in fact.get("parts", ()):
        inside = Around((*suites, fact["name"], *part["outer"]), test.status, test.conditional)
        yield row(path, framework, part, inside, kind="subtest")


def row(path: str, framework: str, fact: TestFact | PartFact, around: Around, *, kind: str) -> Test:
    """One row."""
    status = fact.get("status") or around.status
    return rows.row(
        framework,
        path,
        around.suites,
        fact["name"],
        fact,
        status=status,
        kind=kind,
        dynamic=fact.get("dynamic", False),
        depends=around.depends or "when" in fact,
    )
