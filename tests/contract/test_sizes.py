"""Modules and functions stay small enough to be read at once, and are named after what they are."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

MODULE, TEST_MODULE = 300, 400  # lines
FUNCTION = 30  # lines below signature and docstring
#: What holds statements.
STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc", "base"}

NAMED_BY_ROLE = {"tasks/base.py"}  # the Task base class, as Celery's users expect it


@pytest.fixture(scope="module")
def modules(sources: list[Path]) -> list[Path]:
    return [path for path in sources if path.suffix == ".py" and path.parts[0] != "build"]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    waiting: list[ast.AST] = [ast.parse((ROOT / path).read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        # no expression holds a function with a body; three quarters of the nodes are below one
        waiting += (child for child in ast.iter_child_nodes(node) if isinstance(child, STATEMENTS))


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_no_module_is_longer_than_its_stop(modules: list[Path]) -> None:
    lines = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in modules}
    stops = {path: TEST_MODULE if "tests" in path.parts else MODULE for path in modules}
    assert {path.as_posix(): n for path, n in lines.items() if n > stops[path]} == {}


def test_no_function_is_longer_than_the_stop(modules: list[Path]) -> None:
    long = {
        f"{path.as_posix()}::{function.name}"
        for path in modules
        for function in functions(path)
        if length(function) > FUNCTION
    }
    assert long == set()


def test_no_module_is_named_after_nothing(modules: list[Path]) -> None:
    assert {path.as_posix() for path in modules if path.stem in VAGUE} == NAMED_BY_ROLE


def test_every_module_of_the_service_says_what_it_is_for(modules: list[Path]) -> None:
    silent = [
        path.as_posix()
        for path in modules
        if path.parts[0] in ("app", "tasks", "migrations")
        and not ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    ]
    assert silent == []
