"""The store returns values: a row that is only known by its columns' names stays in the function that asked for it."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

STORE = sorted((ROOT / "app" / "store").rglob("*.py"))
ABOVE = sorted(path for part in ("services", "web", "adapters", "cli") for path in (ROOT / "app" / part).rglob("*.py"))
UNTYPED = re.compile(r"\bAny\b|\bRow\[|\bRowMapping\b")
#: What broke an invariant is told as it was found, because each invariant has columns of its own.
AS_FOUND = {"app/store/operations/audit.py"}


def returned(source: str) -> Iterator[tuple[str, str]]:
    """(name, annotation) of each public function and method."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_") and node.returns:
            yield node.name, f"-> {ast.unparse(node.returns)}"


def untyped(source: str) -> list[str]:
    return [name for name, annotation in returned(source) if UNTYPED.search(annotation)]


def test_no_function_of_the_store_returns_rows() -> None:
    found = {path.relative_to(ROOT).as_posix(): untyped(path.read_text(encoding="utf-8")) for path in STORE}
    assert {path: names for path, names in found.items() if names and path not in AS_FOUND} == {
        "app/store/specifications/behaviours.py": ["to_json"]  # it writes them
    }


def test_nobody_above_the_store_names_a_row() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in ABOVE}
    assert [path.name for path, source in sources.items() if "Row[Any]" in source or "RowMapping" in source] == []


@pytest.mark.parametrize(
    "returns",
    [
        "Row[Any] | None", "list[RowMapping]", "Sequence[Row[Any]]", "list[dict[str, Any]]", "dict[str, Any]",
        "dict[bytes, Any]", "Any",
    ],
)  # fmt: skip
def test_a_function_that_returns_rows_is_found(returns: str) -> None:
    assert untyped(f"def find(tx) -> {returns}: ...") == ["find"]
    assert untyped(f"def _find(tx) -> {returns}: ...") == []
