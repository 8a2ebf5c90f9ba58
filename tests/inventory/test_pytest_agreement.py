"""What the inventory lists for Python is what pytest itself collects, file by file and line by line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.inventory import Inventory
from tests.inventory.conftest import MakeRepository, TakeInventory, git
from tests.inventory.test_corpus import CORPUS, files_of, label

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = sorted(path for path in (CORPUS / "pytest").iterdir() if path.is_dir())

Place = tuple[str, int]


def collected(directory: Path, out: Path, *options: str, plain: bool = False) -> tuple[set[Place], str]:
    """Places pytest collects in a directory, and what it printed.  plain: without installed plugins."""
    plugins = out.parent / "plugins"  # a path of its own: the project's packages may be called as ours are
    plugins.mkdir()
    (plugins / "native.py").write_bytes((ROOT / "tests/inventory/native.py").read_bytes())
    env = os.environ | {"NATIVE_OUT": str(out), "PYTHONPATH": str(plugins), "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if plain else {}
    argv = [sys.executable, "-m", "pytest", "-p", "native", "--collect-only", "-q", "-W", "ignore"]
    argv += ["-p", "no:cacheprovider", *options]
    done = subprocess.run(argv, cwd=directory, env=env, capture_output=True, text=True, check=False, timeout=100)
    assert out.exists(), done.stdout + done.stderr
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return {(file, line) for file, line, _ in rows}, done.stdout


def listed(inventory: Inventory) -> set[Place]:
    return {(test.file, test.line) for test in inventory.tests if test.framework in ("pytest", "unittest")}


@pytest.mark.parametrize("project", PROJECTS, ids=label)
def test_a_project_is_listed_as_pytest_collects_it(
    project: Path, make_repository: MakeRepository, take: TakeInventory, tmp_path: Path
) -> None:
    repository = make_repository(files_of(project))
    places, printed = collected(repository, tmp_path / "native.jsonl", plain=True)
    assert listed(take(repository)) == places, printed


def test_this_repository_is_listed_as_pytest_collects_it(tmp_path: Path, take: TakeInventory) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not in a clone")
    places, printed = collected(ROOT, tmp_path / "native.jsonl", "--continue-on-collection-errors")
    broken = {line.split()[1] for line in printed.splitlines() if line.startswith("ERROR ")}
    copy = {"GIT_DIR": str(tmp_path / "copy"), "GIT_WORK_TREE": str(ROOT)}  # the working tree as it is now
    (tmp_path / "copy").mkdir()
    git(ROOT, "init", "--quiet", env={"GIT_DIR": copy["GIT_DIR"]})
    git(ROOT, "add", "--all", env=copy)
    git(ROOT, "commit", "--quiet", "--message=state", env=copy)
    found = {place for place in listed(take(tmp_path / "copy")) if place[0] not in broken}
    assert found == {place for place in places if place[0] not in broken}
