"""Two tiers of tests: the first leaves out the proofs and nothing else, and CI runs both."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from _pytest.mark import ParameterSet

from tests.contract.conftest import ROOT
from tests.tiers import WHOLE, WITHOUT_PROOFS, few, proofs, pytest_ignore_collect

#: Where a test of the first tier may open Chromium: it takes seconds to start, and two thirds of a processor to render.
BROWSER = {"tests/web/test_browser.py"}
#: Where a test of the first tier may start nodes: a few of each kind, and those that wait the least.
NODES = {
    "bad_input", "draining", "draining_nodes", "every_command", "nodes_shown", "poolers", "roles", "secrets", "several_hosts",
    "specifications", "stopping", "workers",
}  # fmt: skip
IN_FIRST_TIER = """
@pytest.fixture
def tab(): return chromium()
@pytest.fixture
def page(tab): return tab
def test_plain(): ...
def test_browser(page): ...
@pytest.mark.parametrize("name", proofs(SCENES, but=FEW))
def test_few(name): chromium()
@pytest.mark.parametrize("name", proofs(SCENES, but=()))
def test_none(name): chromium()
@pytest.mark.proof
def test_proof(page): ...
"""


def recipe(target: str) -> str:
    """The commands of a target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert found is not None, target
    return found[1].strip()


def runs(target: str) -> str:
    """Which tests the target runs."""
    found = re.search(r'^\$\(PYTEST\) -m "?([^"$]+)"?( \$\(DURATIONS\))?$', recipe(target))
    assert found is not None, target
    return found[1]


def test_the_first_tier_leaves_out_proofs_rules_and_what_a_release_must_show_and_nothing_else() -> None:
    assert runs("test") == WITHOUT_PROOFS
    assert runs("test-all") == "not release and not rule"
    assert runs("prove-release") == "release"


def test_rules_run_with_the_linters_and_ci_begins_with_them() -> None:
    assert recipe("check").splitlines()[-1].strip() == "$(PYTEST) -m rule tests/contract"
    assert "\nmake check\nmake test-all" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_a_quick_run_is_of_the_first_tier() -> None:
    assert f'$(PYTEST) -m "{WITHOUT_PROOFS}" $$chosen' in recipe("quick")


def test_ci_runs_both_tiers_and_keeps_the_durations() -> None:
    last = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert last == "make test-all DURATIONS_FILE=.durations.json"


def test_parameters_are_all_run_by_both_tiers_together_and_few_by_the_first() -> None:
    first, second = proofs(["a", "b"], but=["a"])
    assert first == "a"
    assert second == pytest.param("b", marks=pytest.mark.proof)


def test_a_parameter_of_the_first_tier_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="shop"):
        proofs(["a", "b"], but=["shop"])


def test_of_parameters_with_several_names_the_first_ones_are_in_the_first_tier() -> None:
    hashed = pytest.param(3, marks=pytest.mark.real_hashes, id="three")
    assert [(case.values, names_of(case)) for case in few(1, [(1, "a"), (2, "b")])] == [
        ((1, "a"), []),
        ((2, "b"), ["proof"]),
    ]
    *_, last = few(1, [1, hashed])
    assert (last.values, names_of(last), last.id) == ((3,), ["real_hashes", "proof"], "three")


@pytest.mark.parametrize(
    ("tests", "source", "unread"),
    [
        (WITHOUT_PROOFS, "pytestmark = pytest.mark.proof\n", True),
        (WITHOUT_PROOFS, "pytestmark = [\n    pytest.mark.proof,\n]\n", True),
        (WITHOUT_PROOFS, "pytestmark = pytest.mark.release\n", True),
        (WITHOUT_PROOFS, "@pytest.mark.proof\ndef test_it(): ...\n", None),
        (WITHOUT_PROOFS, "pytestmark = pytest.mark.rule\n", True),
        ("not release and not rule", "pytestmark = pytest.mark.rule\n", True),
        ("not release and not rule", "pytestmark = pytest.mark.proof\n", None),
        ("rule", "pytestmark = pytest.mark.rule\n", None),
        ("", "pytestmark = pytest.mark.proof\n", None),
    ],
)
def test_a_module_that_is_left_out_as_a_whole_is_left_unread(
    tmp_path: Path, tests: str, source: str, unread: bool | None
) -> None:
    module = tmp_path / "test_it.py"
    module.write_text(source)
    config = SimpleNamespace(option=SimpleNamespace(markexpr=tests))
    assert pytest_ignore_collect(module, config) is unread


def names_of(case: ParameterSet) -> list[str]:
    """The marks of a parameter."""
    return [one.name for one in case.marks]


def first_tier(source: str) -> Iterator[ast.FunctionDef]:
    """The tests of a module that are not all marked, by itself or by each of their parameters."""
    if WHOLE.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            decorators = " ".join(ast.unparse(one) for one in node.decorator_list)
            if not re.search(r"mark\.(proof|release)\b|but=\(\)", decorators):
                yield node


def with_browser(source: str) -> list[str]:
    """Tests of the first tier that open Chromium, by themselves or by a fixture of their module."""
    if "chromium" not in source:
        return []
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    opening = {"chromium"}
    while len(opening) < len(opening := opening | {node.name for node in functions if _uses(node, opening)}):
        pass
    return [node.name for node in first_tier(source) if node.name in opening]


def _uses(node: ast.FunctionDef, names: set[str]) -> bool:
    called = {call.func.id for call in ast.walk(node) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}
    return not names.isdisjoint(called | {argument.arg for argument in node.args.args})


def modules(pattern: str) -> dict[str, str]:
    """Path -> source of each module of tests."""
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in ROOT.glob(pattern)}


def test_a_browser_of_the_first_tier_is_seen_whichever_way_it_is_opened() -> None:
    assert with_browser(IN_FIRST_TIER) == ["test_browser", "test_few"]
    assert with_browser(f"pytestmark = pytest.mark.proof\n{IN_FIRST_TIER}") == []


def test_in_the_first_tier_few_pages_are_opened_in_a_browser() -> None:
    assert {path for path, source in modules("tests/**/test_*.py").items() if with_browser(source)} == BROWSER
    browser = (ROOT / "tests/web/test_browser.py").read_text(encoding="utf-8")
    assert re.search(r'^FEW = \("home",\)$', browser, re.MULTILINE)


def test_in_the_first_tier_few_modules_start_nodes() -> None:
    found = {
        Path(path).stem.removeprefix("test_")
        for path, source in modules("tests/e2e/test_*.py").items()
        if [*first_tier(source)]
    }
    assert found == NODES
