"""A plugin of pytest that writes down which `assert` statements each test ran: what checks of Python are compared with.

    python -m pytest -p executed_asserts -o enable_assertion_pass_hook=true --executed-asserts OUT.json

One object a test that passed: file, line and name of its function, and the lines of statements that held, each with its
source as pytest gives it.  A line may be of a function that the test calls, in any file.
"""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_lines: dict[str, dict[int, str]] = {}
_passed: dict[str, dict[str, Any]] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where to write."""
    parser.addoption("--executed-asserts", default="executed-asserts.json")


def pytest_assertion_pass(item: pytest.Item, lineno: int, orig: str) -> None:
    """One statement held."""
    _lines.setdefault(item.nodeid, {})[lineno] = orig


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Keep tests that passed: of the others, some statements were not come to."""
    report = yield
    function = getattr(item, "function", None)
    if call.when == "call" and report.passed and function is not None:
        code = getattr(function, "__wrapped__", function)
        first = getattr(getattr(code, "__code__", None), "co_firstlineno", 0)
        name = getattr(item, "originalname", item.name)
        _passed[item.nodeid] = {"file": str(item.path), "line": first, "name": name}
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write all of it."""
    found = [{**test, "lines": _lines.get(node, {})} for node, test in _passed.items()]
    Path(session.config.getoption("--executed-asserts")).write_text(json.dumps(found))
