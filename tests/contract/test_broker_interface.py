"""The service knows the broker's tables by the views and functions of its interface only (docs/adr/0050)."""

import ast
import re
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from tests.conftest import raw_connection
from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

SOURCES = sorted(path for part in ("app", "tasks") for path in (ROOT / part).rglob("*.py"))
#: Files whose statements may name a table of the broker's.
ALLOWED: frozenset[str] = frozenset()
_TABLE = re.compile(r"\b(kombu|durable)_")
BODIES = """
    SELECT proname, prosrc FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND proname !~ '^(durable|kombu|broker)_'"""


def named(source: str) -> Iterator[int]:
    """Lines of Python that name a table of the broker's, in a statement or a name; what is told of one is no use."""
    tree = ast.parse(source)
    told = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(said)) | ast.Name(id=said) | ast.Attribute(attr=said):
                if _TABLE.search(said) and id(node) not in told:
                    yield node.lineno


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('"""Of kombu_message."""\nX = "DELETE FROM kombu_message"  # of kombu_message', [2]),
        ('Y = f"SELECT {X} FROM kombu_queue"', [1]),
        ('Y = "SELECT FROM durable_ready"', [1]),
        ("X.kombu_x, kombu_y = 1, 2", [1, 1]),
        ('def f():\n    """Of kombu_message."""\n    return 1  # kombu_message', []),
        ('X = "SELECT FROM broker_message"', []),
    ],
)
def test_a_table_that_is_used_is_found_and_one_that_is_told_of_is_not(source: str, lines: list[int]) -> None:
    assert list(named(source)) == lines


def test_no_statement_of_the_service_names_a_table_of_the_broker() -> None:
    found = {
        f"{name}:{line}"
        for path in SOURCES
        if (name := str(path.relative_to(ROOT))) not in ALLOWED
        for line in named(path.read_text(encoding="utf-8"))
    }
    assert found == set()
    assert len(SOURCES) > 300


def test_no_function_of_the_service_names_a_table_or_a_function_of_the_broker_s(migrated_url: str) -> None:
    with raw_connection(migrated_url) as connection:
        named = {
            name: set(re.findall(r"\b(?:kombu|durable)_\w+", body)) for name, body in connection.execute(text(BODIES))
        }
    assert {name: found for name, found in named.items() if found} == {}
