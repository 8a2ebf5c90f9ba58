"""Rows: one constructor says what a condition and a place mean for all languages."""

from typing import Any

import pytest
from testlist.kit.rows import Placed, row
from testlist.model import STATUSES, Test

PLACE: Placed = {"line": 3, "column": 5, "end": 9}


def test_a_row_stands_where_its_definition_does() -> None:
    made = row("swift-testing", "a.swift", ["Outer", "Inner"], "works", PLACE)
    assert made == Test("a.swift", "swift-testing", ("Outer", "Inner"), "works", 3, column=5, end_line=9)


@pytest.mark.parametrize("status", STATUSES)
def test_a_condition_says_nothing_of_a_test_that_never_runs(status: str) -> None:
    made = row("xctest", "a.swift", (), "works", PLACE, status=status, depends=True)
    assert made.conditional == (status not in ("skipped", "todo"))
    assert not row("xctest", "a.swift", (), "works", PLACE, status=status).conditional


def test_a_condition_counts_where_it_alone_makes_a_test_skipped() -> None:
    assert row("pytest", "test_a.py", (), "works", PLACE, status="skipped", depends=True, never=False).conditional
    assert not row("pytest", "test_a.py", (), "works", PLACE, status="skipped", depends=True, never=True).conditional


@pytest.mark.parametrize("value", [1, [1], "x", None])
def test_what_a_row_says_yes_or_no_to_is_one_of_both_whatever_a_file_gives(value: Any) -> None:
    one = row("xctest", "a.swift", (), "works", PLACE, dynamic=value, depends=value)
    assert (one.dynamic, one.conditional) == (bool(value), bool(value))
    assert type(one.dynamic) is type(one.conditional) is bool
