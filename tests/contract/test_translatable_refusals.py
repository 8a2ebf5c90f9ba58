"""A refusal that a page shows has a sentence that a translator can find."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import errors
from app.errors import Problem

pytestmark = pytest.mark.rule

APP = Path(__file__).parents[2] / "app"
#: The API and the commands speak English alone.
ENGLISH = ("web/jobs/idempotency.py", "cli/", "embedded/")
#: A wrong setting stops a process at its start; no page tells of it.
PROBLEMS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Problem)} - {
    "BadSetting"
}


def is_api(path: Path) -> bool:
    return path.stem.rpartition("_")[2] == "api"


def modules() -> list[Path]:
    every = sorted(APP.rglob("*.py"))
    return [path for path in every if not (is_api(path) or str(path.relative_to(APP)).startswith(ENGLISH))]


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def plain_texts(tree: ast.Module) -> set[str]:
    """The names of the module that stand for a string which is no Message."""
    return {
        name_of(target)
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Constant, ast.JoinedStr))
        if not isinstance(statement.value, ast.Constant) or isinstance(statement.value.value, str)
        for target in statement.targets
    }


def unmarked(source: str, constants: set[str]) -> Iterator[int]:
    """The lines that raise a problem whose sentence is put together, or stands elsewhere as a plain string."""
    tree = ast.parse(source)
    plain = (plain_texts(tree) | constants) - {""}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in PROBLEMS and node.args:
            told = node.args[0]
            if isinstance(told, (ast.JoinedStr, ast.BinOp)) or name_of(told) in plain:
                yield node.lineno


def constants_of_all() -> set[str]:
    found = {name for path in modules() for name in plain_texts(ast.parse(path.read_text()))}
    return {name for name in found if name.isupper()}


def test_every_refusal_has_a_message() -> None:
    constants = constants_of_all()
    found = [f"{path.relative_to(APP)}:{line}" for path in modules() for line in unmarked(path.read_text(), constants)]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    [
        "raise Conflict(f'The job is {status}')",
        "raise NotFound('There is no ' + name)",
        "GONE = 'It is gone'\nraise NotFound(GONE)",
        "told = f'{name} is gone'\nraise NotFound(told)",
    ],
)
def test_a_planted_refusal_is_found(planted: str) -> None:
    assert list(unmarked(planted, set()))


@pytest.mark.parametrize(
    "fine",
    [
        "raise NotFound('It is gone')",
        "GONE = Message('It is gone')\nraise NotFound(GONE)",
        "raise Conflict(Message('The job is %(status)s', status=status))",
    ],
)
def test_a_marked_refusal_is_fine(fine: str) -> None:
    assert list(unmarked(fine, set())) == []
