"""Rows of C++ tests, made of facts."""

from collections.abc import Iterator
from typing import Any

from testlist.languages.cpp.facts_cases import Fact
from testlist.model import IDLE, Test


def rows(path: str, framework: str, fact: Fact) -> Iterator[Test]:
    """One test and its parts."""
    suites = tuple(fact["suites"])
    if framework == "doctest":
        suites = suites[-1:]  # the innermost is the only one doctest keeps
    test = row(path, framework, suites, fact, "test")
    yield test
    for part in fact.get("parts", ()):
        inherited = {"status": test.status} | ({"when": True} if test.conditional else {}) | part
        yield row(path, framework, (*suites, fact["name"], *part["outer"]), inherited, "subtest")


def row(path: str, framework: str, suites: tuple[str, ...], fact: dict[str, Any], kind: str) -> Test:
    """One row."""
    status = fact.get("status") or "active"
    return Test(
        file=path,
        framework=framework,
        suites=suites,
        name=fact["name"],
        line=fact["line"],
        status=status,
        kind=kind,
        dynamic=fact.get("dynamic", False),
        cases=fact.get("cases"),
        column=fact["column"],
        end_line=fact["end"],
        conditional="when" in fact and status not in IDLE,
    )
