"""Services return values; dates, addresses and statuses as programs are told them are the web's (docs/architecture.md)."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

SERVICES = sorted((ROOT / "app" / "services").rglob("*.py"))
#: The start of an address, be it a page's or one of the API's.
ADDRESS = re.compile(r"^(https?://|/(api|analyses|specs|usage|operator|shared|problems|docs)\b)")


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in SERVICES:
        yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def found(holds: Any, is_so: Callable[[Any], bool]) -> list[str]:
    return [
        f"{path}:{node.lineno}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, holds) and is_so(node)
    ]


def test_there_are_services() -> None:
    assert len(SERVICES) > 50


@pytest.mark.parametrize("kind", ["dict[str, Any]", "dict[str, object]"])
def test_no_service_gives_away_a_dict_of_anything(kind: str) -> None:
    assert found(ast.Subscript, lambda node: ast.unparse(node) == kind) == []


def test_no_service_writes_a_date_out() -> None:
    assert found(ast.Attribute, lambda node: node.attr in ("isoformat", "strftime", "fromisoformat")) == []


def test_no_service_knows_an_address() -> None:
    def is_address(node: ast.Constant) -> bool:
        return isinstance(node.value, str) and bool(ADDRESS.match(node.value))

    assert found(ast.Constant, is_address) == []


def test_no_service_knows_a_status_of_http() -> None:
    def is_status(node: ast.arg | ast.AnnAssign) -> bool:
        name = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
        return name == "status" and node.annotation is not None and ast.unparse(node.annotation) == "int"

    assert found(ast.arg | ast.AnnAssign, is_status) == []
