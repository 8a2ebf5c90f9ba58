"""A docstring can be read alone: it begins with a sentence that leans neither on another docstring nor on the code."""

import ast
import re

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

#: words that point at another docstring; a section or a field comes after a sentence that says what the thing is
LEANING = re.compile(
    r"(As|Of|The same|It|They|Those|One of (?:them|these|those))\b|By (?!\w+ing\b)|(Raises|Returns|Locks|Yields):"
)
FIELD = re.compile(r"[a-z_]\w*(, [a-z_]\w*)*: ")
#: names of programs are written like fields: `jest: calls of it and test`
NAMED = ast.Module
SOURCES = [
    path
    for part in ("app", "tasks", *(f"packages/{path.name}/src" for path in (ROOT / "packages").iterdir()))
    for path in sorted((ROOT / part).rglob("*.py"))
]


def leans(node: ast.AST, docstring: str) -> bool:
    return bool(LEANING.match(docstring) or (not isinstance(node, NAMED) and FIELD.match(docstring)))


def leaning(source: str) -> list[int]:
    """The lines of what has such a docstring."""
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, documented)]
    return [getattr(node, "lineno", 1) for node in nodes if leans(node, ast.get_docstring(node) or "")]


def test_every_docstring_can_be_read_alone() -> None:
    found = {path.relative_to(ROOT).as_posix(): leaning(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert len(found) > 500
    assert {path: lines for path, lines in found.items() if lines} == {}


LEANS = [
    "As wake.",
    "Of all.",
    "The same for many.",
    "It did not.",
    "Those that the viewer may see.",
    "One of them.",
    "By kind.",
    "Raises: NotFound.",
    "Returns: how many.",
    "Locks: the users row.",
]


@pytest.mark.parametrize("first", LEANS)
def test_one_that_leans_is_found(first: str) -> None:
    assert leaning(f'def f():\n    """{first}"""') == [1]
    assert leaning(f'"""{first}"""\n') == [1]
    assert leaning('"""Offer a price without a reservation."""\n') == []


@pytest.mark.parametrize("first", ["bytes: of the database", "rows, after: of the last page."])
def test_one_that_begins_with_a_field_is_found(first: str) -> None:
    assert leaning(f'class C:\n    """{first}"""') == [1]
    assert leaning(f'"""{first}"""\n') == []  # the name of a program


@pytest.mark.parametrize(
    "first", ["By adding a row.", "Item by item.", "Raise the limit.", "Rows.  after: the last one."]
)
def test_one_that_can_be_read_alone_is_not_found(first: str) -> None:
    assert leaning(f'def f():\n    """{first}"""') == []
