"""A docstring can be read alone: its first word does not lean on another one."""

import ast
import re

import pytest

from tests.contract.conftest import ROOT

LEANING = re.compile(r"(As|Of|The same)\b")
SOURCES = [
    path
    for part in ("app", "tasks", *(f"packages/{path.name}/src" for path in (ROOT / "packages").iterdir()))
    for path in sorted((ROOT / part).rglob("*.py"))
]


def leaning(source: str) -> list[int]:
    """The lines of what has such a docstring."""
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, documented)]
    return [getattr(node, "lineno", 1) for node in nodes if LEANING.match(ast.get_docstring(node) or "")]


def test_every_docstring_can_be_read_alone() -> None:
    found = {path.relative_to(ROOT).as_posix(): leaning(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert len(found) > 500
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("first", ["As wake.", "Of all.", "The same for many."])
def test_one_that_leans_is_found(first: str) -> None:
    assert leaning(f'def f():\n    """{first}"""') == [1]
    assert leaning(f'"""{first}"""\n') == [1]
    assert leaning('"""Offers are told, asking is free."""\n') == []
