"""Tests that run beside others, in several processes on one server."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

SHOWS_ALL = re.compile(r"\b(?:FROM|JOIN) pg_(?:locks|stat_activity|prepared_xacts|stat_database)\b")
NARROWED = re.compile(r"\bcurrent_database\(\)|\bpid = |\.pid\b")
#: Their servers are their own, or what they ask for is of the whole server.
WITH_SERVERS = {
    "e2e/test_alternating_roles.py", "e2e/test_cells_under_fire.py", "e2e/test_failing_replicas.py",
    "e2e/test_standbys.py", "embedded/test_embedded.py", "services/jobs/test_crash.py",
}  # fmt: skip


def texts(path: Path) -> Iterator[str]:
    """The statements of a module, each as a whole."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield ast.unparse(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield node.value


def test_who_looks_at_sessions_and_locks_sees_those_of_its_own_database() -> None:
    """A lock or a prepared transaction of a test beside it has failed a test, or let it go on too early."""
    found: dict[str, list[str]] = {}
    for path in (ROOT / "tests").rglob("*.py"):
        for one in texts(path):
            if SHOWS_ALL.search(one) and not NARROWED.search(one):
                found.setdefault(path.relative_to(ROOT / "tests").as_posix(), []).append(one)
    assert {name: of for name, of in found.items() if name not in WITH_SERVERS} == {}
    assert found.keys() == WITH_SERVERS


def test_parameters_are_the_same_in_each_process_that_runs_tests() -> None:
    """Processes that have collected different names run nothing at all."""
    chances = {
        "uuid4",
        "uuid1",
        "urandom",
        "token_hex",
        "token_bytes",
        "randrange",
        "randint",
        "monotonic",
        "time",
        "now",
    }
    paths = [path for folder in (ROOT / "tests", ROOT / "packages") for path in folder.rglob("test_*.py")]
    assert len(paths) > 500
    found = [
        f"{path.relative_to(ROOT)}: {name}" for path in paths for name in parameters_calls(path) if name in chances
    ]
    assert found == []


def parameters_calls(path: Path) -> Iterator[str]:
    """What is called while the parameters of a module's tests are made."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".parametrize"):
            for call in (one for given in node.args for one in ast.walk(given) if isinstance(one, ast.Call)):
                yield ast.unparse(call.func).rpartition(".")[2]
