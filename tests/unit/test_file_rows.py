"""What the engine says of a file becomes what is stored of it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from testlist import FileInventory, Source, Test, fetched, inventory, resolve
from testlist.model import Checks

from tasks.file_rows import MOST_CHECKS, file_row

EQUAL = {"line": 2, "relation": "equal", "subject": "a", "expected": "1", "value": 1}
SOURCE = """
def check_total(cart):
    assert cart.total == 3
    assert cart.items

def test_adds():
    check_total(Cart())
    assert True

def test_nothing():
    pass

def test_calls():
    Cart().add("apple")
"""


def rows(*found: Checks | None) -> tuple[list[Any], list[Any]]:
    tests = tuple(Test("a.py", "pytest", (), f"test_{number}", number) for number, _ in enumerate(found, 1))
    row = file_row(FileInventory("a.py", "1" * 40, "pytest", tests, checks=found))
    return list(row.tests), list(row.checks)


def test_the_rows_of_a_file_say_what_its_tests_check(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(SOURCE)
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a@example.org commit -qm a"):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True)
    source = Source.local(tmp_path)
    with fetched(source, resolve(source, None)[0], workdir=tmp_path / "work") as repository:
        [file] = map(file_row, inventory(repository, checks=True).files)
    assert [(row["name"], row["check_count"], row.get("cannot_fail")) for row in file.tests] == [
        ("test_adds", 2, None), ("test_nothing", 0, "empty"), ("test_calls", 0, None),
    ]  # fmt: skip
    [adds, nothing, calls] = file.checks
    assert adds is not None
    assert [(one["relation"], one.get("idle"), one.get("by")) for one in adds["checks"]] == [
        ("truthy", "constant", None), ("equal", None, "check_total"), ("truthy", None, "check_total"),
    ]  # fmt: skip
    assert nothing == calls == {"checks": [], "subjects": []}


def test_a_test_of_which_nothing_is_known_has_no_member_more() -> None:
    tests, checks = rows(None, Checks((EQUAL,), ("shop.py:Cart",), None))
    assert [("check_count" in test, "cannot_fail" in test) for test in tests] == [(False, False), (True, False)]
    assert checks == [None, {"checks": [EQUAL], "subjects": ["shop.py:Cart"]}]


def test_checks_that_decide_nothing_are_stored_and_not_counted() -> None:
    tests, checks = rows(Checks((EQUAL, EQUAL | {"idle": "unreachable"}), (), "unreachable"))
    assert (tests[0]["check_count"], tests[0]["cannot_fail"], len(checks[0]["checks"])) == (1, "unreachable", 2)


def test_all_checks_are_counted_and_the_first_are_stored() -> None:
    tests, checks = rows(Checks((EQUAL,) * 70, (), None))
    assert (tests[0]["check_count"], len(checks[0]["checks"])) == (70, MOST_CHECKS)


@pytest.mark.parametrize(
    ("check", "kept"),
    [
        (EQUAL | {"line": "2", "by": None, "unknown": 1}, {k: v for k, v in EQUAL.items() if k != "line"}),
        ({"relation": "made_up"}, None),
        ({"relation": ["equal"]}, None),
    ],
)
def test_a_check_of_a_hostile_file_is_kept_in_its_form(check: dict[str, Any], kept: dict[str, Any] | None) -> None:
    tests, checks = rows(Checks((check,), (), "made_up"))
    assert checks[0]["checks"] == ([] if kept is None else [kept])
    assert "cannot_fail" not in tests[0]
