"""What clients get of results; like app.web.core.answers."""

from __future__ import annotations

from app.web.core.answers import Shape


class TestRow(Shape):
    """One test definition."""

    __test__ = False

    file: str
    framework: str
    suites: list[str]
    name: str
    line: int
    status: str


class TestPage(Shape):
    """total: rows on all pages under this filter."""

    __test__ = False

    items: list[TestRow]
    next: str | None
    total: int


class FileShape(Shape):
    """One file of an inventory.  tests: their number; skipped: why it could not be read; hints: what it is about."""

    file: str
    framework: str | None
    tests: int
    skipped: str | None
    hints: list[str]


class FilePage(Shape):
    """total: files on all pages under this filter."""

    items: list[FileShape]
    next: str | None
    total: int


class ChangedTest(Shape):
    """One test on both sides."""

    before: TestRow
    after: TestRow


class ComparisonShape(Shape):
    """Changes of tests.  totals: of each group, and unchanged; unknown: files that one side could not read."""

    totals: dict[str, int]
    added: list[TestRow]
    removed: list[TestRow]
    moved: list[ChangedTest]
    renamed: list[ChangedTest]
    status_changed: list[ChangedTest]
    unknown: list[str]
