"""What may stand in the repository at all: no machine's paths, no mirrors, no secrets, no unexplained waiting."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

#: folders of one machine or person; written in parts, since this file is searched as well
PLACES = re.compile("|".join(f"/{place}/" for place in ("work", "home/[a-z]", "Users/[A-Za-z]", "root", "workspace")))
MIRROR = re.compile(
    r"(--(extra-)?index-url|--trusted-host|--find-links|PIP_INDEX_URL|artifactory|nexus\.)", re.IGNORECASE
)
SECRET = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\bgh[pousr]_[A-Za-z0-9]{30,}|\bAKIA[0-9A-Z]{16}\b|\bsk-[A-Za-z0-9]{32,}"
)
MERGE = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
EAGER = re.compile(r"task_always_eager|CELERY_TASK_ALWAYS_EAGER|\.apply\(\s*(args|kwargs)=")
WAITS = {"sleep"}
SKIPS = {"skip", "skipif", "xfail"}


@pytest.fixture(scope="module")
def texts(sources: list[Path]) -> dict[Path, str]:
    """Every file that is text."""
    found = {}
    for path in sources:
        raw = (ROOT / path).read_bytes()
        if b"\0" not in raw:
            found[path] = raw.decode("utf-8", errors="replace")
    return found


def holding(texts: dict[Path, str], pattern: re.Pattern[str]) -> dict[str, str]:
    """Where a pattern is, with the first thing found."""
    own = Path(__file__).relative_to(ROOT)
    return {p.as_posix(): m[0] for p, text in texts.items() if p != own and (m := pattern.search(text))}


def test_no_file_names_a_folder_of_one_machine(texts: dict[Path, str]) -> None:
    assert holding(texts, PLACES) == {}


def test_no_file_names_a_package_mirror(texts: dict[Path, str]) -> None:
    assert holding(texts, MIRROR) == {}


def test_no_code_runs_tasks_in_the_caller(texts: dict[Path, str]) -> None:
    code = {path: text for path, text in texts.items() if path.suffix == ".py"}
    assert holding(code, EAGER) == {}


def test_a_program_is_identified_only_where_refused_credentials_are_counted(texts: dict[Path, str]) -> None:
    found = holding(texts, re.compile(r"\bauth\.identify_program\b|auth import .*\bidentify_program\b"))
    assert [path for path in found if path.startswith("app/")] == ["app/web/limits/read_costs.py"]


def test_no_file_holds_a_secret_or_half_a_merge(texts: dict[Path, str]) -> None:
    assert holding(texts, SECRET) == {}
    assert holding(texts, MERGE) == {}


def test_constraints_pin_names_to_versions_our_packages_to_their_folders_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    ours = [f"{path.name} @ file://${{PWD}}/packages/{path.name}" for path in sorted((ROOT / "packages").iterdir())]
    assert [line for line in lines if "@" in line] == ours
    pins = [line for line in lines if line and not line.startswith("#") and line not in ours]
    assert len(pins) > 50
    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9._+!-]+( *;.+)?", line)] == []


def calls(tree: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node


def modules_with(names: set[str], texts: dict[Path, str]) -> Iterator[tuple[str, str, ast.Module]]:
    """Modules of tests in which a name stands: to parse all of them takes seconds."""
    for path, text in texts.items():
        is_test = path.suffix == ".py" and (path.stem + "_").startswith(("test_", "conftest_"))
        if path.parts[0] == "tests" and is_test and any(name in text for name in names):
            yield path.as_posix(), text, ast.parse(text)


def test_a_test_sleeps_only_between_two_looks_or_says_why(texts: dict[Path, str]) -> None:
    silent = set()
    for path, text, tree in modules_with(WAITS, texts):
        loops = [node for node in ast.walk(tree) if isinstance(node, ast.While)]
        polls = {call.lineno for loop in loops for call in calls(loop, WAITS)}
        for call in calls(tree, WAITS):
            if call.lineno not in polls and "  # " not in text.splitlines()[call.lineno - 1]:
                silent.add(f"{path}:{call.lineno}")
    assert silent == set()


def test_a_test_that_is_skipped_says_why(texts: dict[Path, str]) -> None:
    silent = {
        f"{path}:{call.lineno}"
        for path, _, tree in modules_with(SKIPS, texts)
        for call in calls(tree, SKIPS)
        if not _has_reason(call)
    }
    assert silent == set()


def _has_reason(call: ast.Call) -> bool:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "reason"]
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr == "skip":
        given += call.args
    return any(not isinstance(reason, ast.Constant) or bool(reason.value) for reason in given)
