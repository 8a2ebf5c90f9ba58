"""Formats for other programs: spreadsheets, code scanning, viewers of test reports; and the schema of our own."""

import csv
import json
from typing import Any

import jsonschema
from testlist import FileInventory, Inventory, Test
from testlist.about import schema
from testlist.reports.formats import render

TESTS = (
    Test("a b.py", "pytest", (), "=cmd()", 3, dynamic=True, cases=2),
    Test("a b.py", "pytest", ("TestA", "b"), "test_b", 12, status="focused"),
    Test("a b.py", "pytest", ("TestA", "b"), "step", 13, status="skipped", kind="subtest"),
    Test("a b.py", "pytest", ("TestA",), "test_c", 20, status="skipped", conditional=True),
    Test("a b.py", "pytest", (), "test_d", 30, status="todo"),
)
FOUND = Inventory(
    "c" * 40,
    (FileInventory("a b.py", "1", "pytest", TESTS, hints=("os",)), FileInventory("b.py", "2", None, (), "too_large")),
    "1+x",
    {"Elixir": 2},
)


def rendered(form: str) -> str:
    return "".join(render(FOUND, form))


def test_the_json_document_is_as_its_schema_says_and_so_is_a_line() -> None:
    rules = json.loads(schema())
    jsonschema.Draft202012Validator.check_schema(rules)
    whole = json.loads(rendered("json"))
    jsonschema.validate(whole, rules)
    lines = [json.loads(line) for line in rendered("jsonl").splitlines()]
    assert lines == whole["tests"]
    # nothing is printed that the schema does not know
    assert list(rules["properties"]) == list(whole)
    assert list(rules["$defs"]["test"]["properties"]) == [*lines[0], "checks", "subjects", "cannot_fail"]
    assert list(rules["$defs"]["summary"]["properties"]) == list(whole["summary"])


def test_a_spreadsheet_gets_a_line_a_test_and_no_formula() -> None:
    head, first, second, *_ = csv.reader(rendered("csv").splitlines())
    assert head[:5] == ["file", "line", "suites", "name", "framework"]
    assert first == ["a b.py", "3", "", "'=cmd()", "pytest", "active", "test", "true", "2", "false"]
    assert second[2:4] == ["TestA > b", "test_b"]


def test_code_scanning_gets_what_does_not_run_and_what_was_not_read() -> None:
    [run] = json.loads(rendered("sarif"))["runs"]
    shown = [(one["ruleId"], one["level"], _line(one), one["message"]["text"]) for one in run["results"]]
    assert shown == [
        (
            "focused-test",
            "warning",
            12,
            "TestA > b > test_b: This test is focused: the other tests of its run are left out.",
        ),
        ("skipped-test", "note", 20, "TestA > test_c: This test is skipped, under a condition."),
        ("todo-test", "note", 30, "test_d: This test is only planned."),
    ]
    assert {one["ruleId"] for one in run["results"]} < {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.py"
    assert len({one["partialFingerprints"]["testId/v1"] for one in run["results"]}) == 3
    [unread] = run["invocations"][0]["toolExecutionNotifications"]
    assert unread["message"]["text"] == "b.py was not read: too_large"


def _line(result: dict[str, Any]) -> int:
    return int(result["locations"][0]["physicalLocation"]["region"]["startLine"])


def test_a_test_report_says_that_nothing_was_run() -> None:
    results = json.loads(rendered("ctrf"))["results"]
    names = ("tests", "passed", "failed", "skipped", "pending", "other")
    assert [results["summary"][name] for name in names] == [4, 0, 0, 1, 1, 2]
    assert [(one["name"], one["status"], one["rawStatus"]) for one in results["tests"]] == [
        ("=cmd()", "other", "active"), ("test_b", "other", "focused"), ("test_c", "skipped", "skipped"),
        ("test_d", "pending", "todo"),
    ]  # fmt: skip
    assert [one.get("suite") for one in results["tests"]] == [None, ["TestA", "b"], ["TestA"], None]
