"""A pytest plugin that writes what pytest itself collects, each test at the def it stands for.

Given with `-p` to a pytest run of its own; it writes a JSON list to the file that NATIVE_OUT names, paths
relative to the root directory of that run.
"""

import functools
import inspect
import json
import os
import unittest
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest


def undecorated(function: Callable[..., object], name: str) -> Callable[..., object]:
    """What stands behind decorators, those too that do not say what they wrap but keep it in a closure."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    if hasattr(function, "hypothesis"):  # @given says so in a place of its own
        function = inspect.unwrap(function.hypothesis.inner_test)
    while function.__code__.co_name != name:
        held = [cell.cell_contents for cell in function.__closure__ or ()]
        inner = [one for one in held if inspect.isfunction(one) and one.__name__ == name]
        if not inner:
            break
        function = inspect.unwrap(inner[0])
    return function


def definition(function: Callable[..., object], name: str) -> tuple[Path, int, str]:
    """File, line of the def and qualified name of a function."""
    function = undecorated(function, name)
    code = function.__code__
    lines = Path(code.co_filename).read_text(encoding="utf-8").splitlines()
    line = code.co_firstlineno
    if function.__name__ == "<lambda>":
        return Path(code.co_filename), line, function.__qualname__
    while lines[line - 1].split("(")[0].split()[:1] not in (["def"], ["async"]):
        line += 1
    return Path(code.co_filename), line, function.__qualname__


def status(item: pytest.Function) -> str:
    """What is settled before it runs; whether a condition holds is not."""
    owners = (item.obj, item.cls)
    if item.get_closest_marker("skip") or any(getattr(owner, "__unittest_skip__", False) for owner in owners):
        return "skipped"
    if item.get_closest_marker("skipif"):
        return "conditional"
    expected = any(getattr(owner, "__unittest_expecting_failure__", False) for owner in owners)
    return "xfail" if expected or item.get_closest_marker("xfail") else "active"


def rows(items: list[pytest.Item], root: Path) -> list[dict[str, object]]:
    """One of each definition, whatever number of items stand for it."""
    found = defaultdict[tuple[str, int, str, str], set[str]](set)
    for item in items:
        if isinstance(item, pytest.Function):
            path, line, name = definition(getattr(item.obj, "__func__", item.obj), item.originalname)
            framework = "unittest" if item.cls and issubclass(item.cls, unittest.TestCase) else "pytest"
            if path.is_relative_to(root):  # a library's test, in a class that inherits it, stands outside
                found[path.relative_to(root).as_posix(), line, name, framework].add(status(item))
    return [
        {
            "file": file,
            "line": line,
            "column": 0,
            "name": name.split("."),
            "framework": framework,
            "statuses": one_of(told),
        }
        for (file, line, name, framework), told in sorted(found.items())
    ]


def one_of(told: set[str]) -> list[str]:
    """The status of a definition: none where its cases differ or a condition decides."""
    return [] if len(told) > 1 or "conditional" in told else list(told)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the folded rows."""
    found = rows(session.items, session.config.rootpath)
    Path(os.environ["NATIVE_OUT"]).write_text(json.dumps(found), encoding="utf-8")
