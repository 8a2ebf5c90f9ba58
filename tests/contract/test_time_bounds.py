"""No bound of wall-clock time below ten seconds stands alone: a slow or busy machine is no failure (docs/adr/0063)."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

LEAST_SECONDS = 10
#: What waits for something and fails when it does not come.  A poll's own pause, and a limit under test, have other names.
WAITS = {
    "wait_for", "is_over", "wait", "get", "result", "acquire", "communicate", "create_connection", "HTTPConnection", "urlopen", "broadcast",
}  # fmt: skip
#: `process_time` is not one: it does not pass while others use the processor.
CLOCKS = {"monotonic", "perf_counter", "time", "total_seconds"}
#: In every source with such a bound; others are not parsed.
MENTIONED = re.compile(r"\b(?:timeout|seconds) ?=|\.(?:wait|acquire)\(|monotonic|perf_counter|\btime\(|total_seconds")
SOURCES = sorted(
    path
    for pattern in ("tests/**/*.py", "packages/*/tests/**/*.py")
    for path in ROOT.glob(pattern)
    if "corpus" not in path.parts
)


def short_bounds(source: str) -> list[int]:
    """Lines with an upper bound that is written as a number: of a wait, or of what two readings of a clock differ by."""
    if not MENTIONED.search(source):
        return []
    return sorted({line for node in ast.walk(ast.parse(source)) for line in _lines(node)})


def _lines(node: ast.AST) -> Iterator[int]:
    match node:
        case ast.Call(func=func, keywords=keywords) if _name(func) in WAITS:
            given = [one.value for one in keywords if one.arg in {"timeout", "seconds"}]
            yield from (one.lineno for one in given if _is_short(one))
        case ast.Assert(test=ast.Call(func=ast.Attribute(attr="wait" | "acquire"), args=[given, *_])) if _is_short(
            given
        ):
            yield given.lineno
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            for before, op, after in zip([left, *comparators], ops, comparators, strict=False):
                smaller, larger = (after, before) if isinstance(op, ast.Gt | ast.GtE) else (before, after)
                if (
                    isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
                    and _is_short(larger)
                    and _reads_a_clock(smaller)
                ):
                    yield larger.lineno


def _is_short(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float) and 0 < value.value < LEAST_SECONDS


def _reads_a_clock(value: ast.expr) -> bool:
    return any(isinstance(one, ast.Call) and _name(one.func) in CLOCKS for one in ast.walk(value))


def _name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def test_no_wait_and_no_measured_time_has_a_bound_below_ten_seconds() -> None:
    found = {path.relative_to(ROOT).as_posix(): short_bounds(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {path: lines for path, lines in found.items() if lines} == {}
    assert len(found) > 400


@pytest.mark.parametrize(
    "source",
    [
        "wait_for(done, 'it', seconds=5)",
        "queue.get(timeout=3)",
        "assert double.left.wait(5)",
        "assert monotonic() - began < 4",
        "assert 0 <= (now() - due).total_seconds() < 0.5",
        "assert 2 > time.perf_counter() - began",
        "while time.monotonic() - began < 5: ...",
    ],
)
def test_a_short_bound_is_found(source: str) -> None:
    assert short_bounds(source) == [1]


@pytest.mark.parametrize(
    "source",
    [
        "wait_for(done, seconds=30)",
        "while not over.wait(0.5): ...",
        "assert time.process_time() - before < 2",
        "assert monotonic() - began > 1",
        "assert took < alone + 4",
    ],
)
def test_a_pause_a_lower_bound_and_a_control_are_none(source: str) -> None:
    assert short_bounds(source) == []
