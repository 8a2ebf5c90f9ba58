"""Answers about results."""

from __future__ import annotations

from app.services.results.read_files import FilePage
from app.web.core.shapes import Shape, Whole


class TestShape(Shape):
    """One test definition."""

    __test__ = False

    file: str
    framework: str
    suites: list[str]
    name: str
    line: int
    status: str


class TestPageShape(Shape):
    """A page of tests.  total: rows on all pages under this filter."""

    __test__ = False

    items: list[TestShape]
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
