"""Rows of Go tests, made of facts."""

from collections.abc import Iterator
from typing import Final

from testlist.languages.go.shape import FunctionFact, SubtestFact
from testlist.model import Test

FRAMEWORK: Final = "go-testing"


def rows(path: str, suites: tuple[str, ...], function: FunctionFact, kind: str, *, depends: bool) -> Iterator[Test]:
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
    return Test(
        file=path,
        framework=FRAMEWORK,
        suites=suites,
        name=fact["name"],
        line=fact["line"],
        status="skipped" if skip else "active",
        kind=kind,
        column=fact["column"],
        end_line=fact["end"],
        conditional=depends and not skip,
    )
