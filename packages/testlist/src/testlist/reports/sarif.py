"""What code scanning shows of an inventory: the tests that do not run as they stand, as SARIF 2.1.0."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from testlist.model import FileInventory, Inventory, Test

#: status -> level, and what it means for those who see it beside the line
RULES: Final = {
    "focused": ("warning", "This test is focused: the other tests of its run are left out."),
    "skipped": ("note", "This test is skipped."),
    "todo": ("note", "This test is only planned."),
    "xfail": ("note", "This test is expected to fail."),
}
#: of tests whose checks were asked for
CANNOT_FAIL, CANNOT_FAIL_TEXT = "cannot-fail-test", "This test passes whatever the code does."
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(inventory: Inventory) -> Iterator[str]:
    """One run: a result for each test that is not active, and a notification for each file that was not read."""
    results = [_result(test) for test in inventory.tests if test.status in RULES and test.kind != "subtest"]
    results += [
        _finding(test, CANNOT_FAIL, f"{CANNOT_FAIL_TEXT} ({checks.cannot_fail.replace('_', ' ')})")
        for file in inventory.files
        for test, checks in zip(file.tests, file.checks, strict=False)
        if checks is not None and checks.cannot_fail
    ]
    unread = [_notification(file) for file in inventory.files if file.skipped]
    run = {
        "tool": {"driver": {"name": "testlist", "version": inventory.parser_version, "rules": list(_rules())}},
        "properties": {"commit": inventory.commit},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": unread}],
        "results": results,
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)
    yield "\n"


def _rules() -> Iterator[dict[str, Any]]:
    rules = {f"{status}-test": rule for status, rule in RULES.items()} | {CANNOT_FAIL: ("warning", CANNOT_FAIL_TEXT)}
    for name, (level, text) in rules.items():
        yield {
            "id": name,
            "shortDescription": {"text": text},
            "defaultConfiguration": {"level": level},
        }


def _result(test: Test) -> dict[str, Any]:
    level, text = RULES[test.status]
    found = f"{text.removesuffix('.')}, under a condition." if test.conditional else text
    return _finding(test, f"{test.status}-test", found, level)


def _finding(test: Test, rule: str, found: str, level: str = "warning") -> dict[str, Any]:
    title = " > ".join((*test.suites, test.name))
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": f"{title}: {found}"},
        "locations": [{"physicalLocation": {**_artifact(test.file), "region": {"startLine": max(1, test.line)}}}],
        # a test keeps its alert when lines move
        "partialFingerprints": {"testId/v1": _fingerprint(test)},
    }


def _artifact(path: str) -> dict[str, Any]:
    return {"artifactLocation": {"uri": quote(path), "uriBaseId": "%SRCROOT%"}}


def _fingerprint(test: Test) -> str:
    parts = (test.framework, test.file, *test.suites, test.name)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def _notification(file: FileInventory) -> dict[str, Any]:
    return {
        "level": "warning",
        "message": {"text": f"{file.path} was not read: {file.skipped}"},
        "locations": [{"physicalLocation": _artifact(file.path)}],
    }
