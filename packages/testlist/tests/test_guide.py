"""The examples of the guide work: a framework in a language that is read, and a language of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import testlist
from testlist.languages import all_frameworks
from testlist_harness.repositories import MakeRepository, TakeInventory

PACKAGE = Path(__file__).resolve().parents[1]
GUIDE = PACKAGE / "docs/frameworks.md"
#: Those of the repository around; the package alone has none.
CONFIG = PACKAGE.parents[1] / "pyproject.toml"
FILES = {
    "test_cart.py": """from ward import skip, test, xfail as broken


@test("an empty cart costs nothing")
def empty():
    pass


@skip("later")
@test("a discount")
def discount():
    pass


@test("rounds")
@broken("half a cent")
def rounding():
    pass


def helper():
    pass
""",
    "test_other.py": "def test_of_pytest():\n    pass\n",
    "cart.py": "from ward import test\n\n@test('not a test file')\ndef no():\n    pass\n",
}


#: a block of code, which says what file of the package it is
BLOCK = re.compile(r"```python\n# (languages/\S+)\n(.*?)```", re.DOTALL)
EXAMPLE = "languages/python/frameworks/ward.py"


def blocks() -> dict[str, str]:
    return dict(BLOCK.findall(GUIDE.read_text(encoding="utf-8")))


def example() -> Any:
    code = blocks()[EXAMPLE]
    module: dict[str, Any] = {"__name__": "guide"}
    exec(compile(code, str(GUIDE), "exec"), module)
    return module["WARD"]


def test_the_example_of_the_guide_lists_its_tests_beside_the_other_frameworks(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    found = take(make_repository(FILES), frameworks=(*all_frameworks(), example()))
    assert [(test.file, test.framework, test.name, test.line, test.status) for test in found.tests] == [
        ("test_cart.py", "ward", "empty", 5, "active"),
        ("test_cart.py", "ward", "discount", 11, "skipped"),
        ("test_cart.py", "ward", "rounding", 17, "xfail"),
        ("test_other.py", "pytest", "test_of_pytest", 1, "active"),
    ]


TALLY = """suite Cart
test an empty cart costs nothing
    total is 0

later a discount
    total is 9
"""


def insert(path: Path, *pairs: tuple[str, str]) -> None:
    """Put a text behind the first place where another one stands, for each pair of these."""
    text = path.read_text()
    for before, added in pairs:
        assert before in text
        text = text.replace(before, before + added, 1)
    path.write_text(text)


@pytest.fixture
def extended(tmp_path: Path) -> Path:
    """A copy of the package with the framework and the language of the guide."""
    home = tmp_path / "extended" / "testlist"
    shutil.copytree(Path(testlist.__file__).parent, home, ignore=shutil.ignore_patterns("__pycache__"))
    (home / "languages/tally/frameworks").mkdir(parents=True)
    (home / "languages/tally/__init__.py").write_text('"""Tally."""\n')
    for place, code in blocks().items():
        (home / place).write_text(code)
    insert(
        home / "languages/__init__.py",
        ("LANGUAGES: Final = (", "TALLY, "),
        ("import SWIFT\n", "from testlist.languages.tally.language import TALLY\n"),
    )
    insert(
        home / "languages/python/frameworks/__init__.py",
        ("import pytest, unittest", ", ward"),
        ("    unittest.UNITTEST,\n", "    ward.WARD,\n"),
    )
    return home.parent


def run(extended: Path, *argv: str | Path) -> str:
    env = {**os.environ, "PYTHONPATH": str(extended)}
    done = subprocess.run([sys.executable, "-m", *argv], env=env, capture_output=True, text=True, cwd=extended)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.proof
def test_the_language_of_the_guide_is_listed_by_the_command(extended: Path, make_repository: MakeRepository) -> None:
    repository = make_repository({"cart.tally": TALLY, "test_other.py": "def test_of_pytest():\n    pass\n"})
    said = [json.loads(line) for line in run(extended, "testlist", "--format=jsonl", repository).splitlines()]
    assert [[one[key] for key in ("framework", "suites", "name", "line", "end_line", "status")] for one in said] == [
        ["abacus", ["Cart"], "an empty cart costs nothing", 2, 3, "active"],
        ["abacus", ["Cart"], "a discount", 5, 6, "skipped"],
        ["pytest", [], "test_of_pytest", 1, 2, "active"],
    ]


@pytest.mark.proof
def test_the_code_of_the_guide_follows_the_plan(extended: Path) -> None:
    plan = Path(__file__).with_name("test_plan.py")
    assert "[tally] PASSED" in run(extended, "pytest", "-v", "-p", "no:cacheprovider", plan)


@pytest.mark.proof
def test_the_code_of_the_guide_passes_the_checks(extended: Path) -> None:
    if not (PACKAGE.parents[1] / ".git").exists():
        pytest.skip("not in a clone")
    rules = f"--config={CONFIG}"
    files = [extended / "testlist" / place for place in blocks()]
    run(extended, "ruff", "check", "--no-cache", rules, *files)
    run(extended, "ruff", "format", "--no-cache", "--check", rules, *files)
    cache = f"--cache-dir={extended / 'types'}"
    run(extended, "mypy", rules.replace("--config", "--config-file"), cache, *files)
