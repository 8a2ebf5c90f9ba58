"""Rows of Go tests, made of facts."""

from collections.abc import Iterator
from typing import Final

from testlist.kit import rows
from testlist.languages.go.shape import FunctionFact, SubtestFact
from testlist.model import Test

FRAMEWORK: Final = "go-testing"


def tests(path: str, suites: tuple[str, ...], function: FunctionFact, kind: str, *, depends: bool) -> Iterator[Test]:
    """A test and its literal subtests, named by the functions around them."""
    depends = depends or "when" in function
    yield row(path, suites, function, kind, depends=depends, skip=function["skip"])
    for subtest in function["subtests"]:
        inside = (*suites, function["name"], *subtest["outer"])
        depending, skip = depends or "when" in subtest, subtest["skip"] or function["skip"]
        yield row(path, inside, subtest, "subtest", depends=depending, skip=skip)


def row(
    path: str, suites: tuple[str, ...], fact: FunctionFact | SubtestFact, kind: str, *, depends: bool, skip: bool
) -> Test:
    """One row."""
    status = "skipped" if skip else "active"
    return rows.row(FRAMEWORK, path, suites, fact["name"], fact, status=status, kind=kind, depends=depends)
