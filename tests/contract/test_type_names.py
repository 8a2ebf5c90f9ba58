"""One name, one meaning: no two modules of the service define a public type of the same name."""

import ast
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.contract.conftest import ROOT

SOURCES = sorted(path for part in ("app", "tasks") for path in (ROOT / part).rglob("*.py"))


def types(source: str) -> Iterator[str]:
    """Names of public classes and of aliases of types: `Links = dict[str, str]`, `Way = Literal["a", "b"]`."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp | ast.Name):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def public_types(source: str) -> set[str]:
    return {name for name in types(source) if name[0].isupper() and not name.isupper()}


def test_no_type_name_is_defined_twice() -> None:
    found = defaultdict(list)
    for path in SOURCES:
        for name in public_types(path.read_text(encoding="utf-8")):
            found[name].append(path.relative_to(ROOT).as_posix())
    assert len(found) > 300
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("source", ["class Wait: ...", "Wait = Literal['a']", "Wait = tuple[int, str]", "Wait = A | B"])
def test_a_type_is_found(source: str) -> None:
    assert public_types(source) == {"Wait"}
    assert public_types(source.replace("Wait", "_Wait")) == set()
