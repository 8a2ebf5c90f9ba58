"""Answers about results."""

from __future__ import annotations

from typing import Any

from app.services.results.read_files import FilePage
from app.web.core.shapes import Shape, Whole


class CheckShape(Shape):
    """One check of a test.

    relation: between subject and expected, which are source; negated: it must not hold; value: of expected, if that is
    a literal; message: a pattern that a raised error must match; idle: why it decides nothing; nested: in a function
    inside of the test; by: the call that leads to it, and file: where it is, if in another file.
    """

    line: int | None = None
    relation: str
    negated: bool = False
    subject: str | None = None
    expected: str | None = None
    value: Any = None
    tolerance: str | None = None
    message: str | None = None
    idle: str | None = None
    nested: bool = False
    by: str | None = None
    file: str | None = None


class TestShape(Shape):
    """One test definition.

    check_count: checks that decide something, also in functions that the test calls; cannot_fail: why it passes
    whatever the code does.  Both are null where that is not known.
    """

    __test__ = False

    file: str
    framework: str
    suites: list[str]
    name: str
    line: int
    status: str
    # results that an earlier engine wrote lack some of these
    kind: str = "test"
    cases: int | None = None
    column: int | None = None
    dynamic: bool = False
    check_count: int | None = None
    cannot_fail: str | None = None


class ListedTestShape(TestShape):
    """A test of a list.

    checks, subjects: what it checks, and what it calls of the repository; null if the list is not that of one `file`,
    or where it is not known.
    """

    checks: list[CheckShape] | None = None
    subjects: list[str] | None = None


class TestPageShape(Shape):
    """A page of tests.  total: rows on all pages under this filter."""

    __test__ = False

    items: list[ListedTestShape]
    next: str | None
    total: int


class FilePageShape(Whole[FilePage]):
    """Files of an inventory."""


class ChangedTestShape(Shape):
    """One test on both sides of a comparison."""

    before: TestShape
    after: TestShape


class ComparisonShape(Shape):
    """Changes of tests.  totals: of each group, and unchanged; unknown: files that one side could not read."""

    totals: dict[str, int]
    added: list[TestShape]
    removed: list[TestShape]
    moved: list[ChangedTestShape]
    renamed: list[ChangedTestShape]
    status_changed: list[ChangedTestShape]
    unknown: list[str]
