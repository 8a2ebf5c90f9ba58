"""A name says what a value is: `told` and `asked` had meant twenty things each."""

import ast
from collections.abc import Iterator

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

FORBIDDEN = {"told", "asked"}
SOURCES = sorted(
    path for part in ("app", "tasks", *(ROOT.glob("packages/*/src"))) for path in (ROOT / part).rglob("*.py")
)


def meaningless(source: str) -> Iterator[str]:
    """Names of variables, parameters, fields, attributes and functions that say nothing."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
            ):
                if name.strip("_") in FORBIDDEN:
                    yield f"{node.lineno}: {name}"


def test_no_value_has_a_name_that_says_nothing() -> None:
    found = {path.relative_to(ROOT).as_posix(): list(meaningless(path.read_text(encoding="utf-8"))) for path in SOURCES}
    assert {path: names for path, names in found.items() if names} == {}
    assert len(found) > 600


@pytest.mark.parametrize(
    "source",
    [
        "told = 1", "def f(asked): ...", "def _told(): ...", "async def told(): ...", "for told in x: ...",
        "self.told = 1", "self._asked: int = 1",
    ],
)  # fmt: skip
def test_such_a_name_is_found(source: str) -> None:
    assert len(list(meaningless(source))) == 1
