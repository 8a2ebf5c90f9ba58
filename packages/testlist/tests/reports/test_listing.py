"""An inventory as text."""

import json

import pytest
from testlist import FileInventory, Inventory, Test
from testlist.reports.formats import FORMATS, render
from testlist.reports.listing import skipped

TESTS = (
    Test("a.py", "pytest", (), "test_a", 3, dynamic=True, cases=2),
    Test("a.py", "pytest", ("TestA",), "test_\x1b[31m\u202ered", 12, status="skipped"),
)
FOUND = Inventory(
    "c" * 40,
    (FileInventory("a.py", "1", "pytest", TESTS), FileInventory("b\n.py", "2", None, (), "too_large")),
    "1+x",
)


def test_json_lines_are_one_object_a_test_in_plain_ascii() -> None:
    lines = "".join(render(FOUND, "jsonl")).splitlines()
    assert [json.loads(line)["line"] for line in lines] == [3, 12]
    assert all(line.isascii() for line in lines)


def test_json_holds_the_summary_and_the_skipped_files() -> None:
    whole = json.loads("".join(render(FOUND, "json")))
    assert whole["summary"]["by_status"] == {"active": 1, "skipped": 1}
    assert whole["skipped"] == [{"file": "b\n.py", "reason": "too_large"}]


def test_a_table_shows_every_test_and_no_control_character() -> None:
    lines = "".join(render(FOUND, "table")).splitlines()
    assert lines[0] == "active   pytest  a.py:3   test_a x2"
    assert lines[1] == "skipped  pytest  a.py:12  TestA > test_\ufffd[31m\ufffdred"
    assert lines[2] == "2 tests in 1 files: 2 pytest, 1 active, 1 skipped, 1 files not read"


def test_skipped_files_are_named_with_their_reason() -> None:
    assert list(skipped(FOUND)) == ["b\ufffd.py: too_large"]


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_inventory_renders_in_every_format(form: str) -> None:
    said = "".join(render(Inventory("c", (), "1+x"), form))
    assert said == "" or said.endswith("\n")
