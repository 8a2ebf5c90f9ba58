"""What `make quick` runs after a change (tools/changed.py)."""

from __future__ import annotations

import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT

_spec = spec_from_file_location("changed", ROOT / "tools" / "changed.py")
assert _spec is not None
assert _spec.loader is not None
changed = module_from_spec(_spec)
_spec.loader.exec_module(changed)

NAMES = ["broker", "engine"]
EVERYTHING = ["tests", "packages/broker/tests", "packages/engine/tests"]


@pytest.mark.parametrize(
    ("paths", "folders"),
    [
        (["app/web/pages.py"], ["tests"]),
        (["packages/engine/src/engine/read.sql", "README.md"], ["tests", "packages/engine/tests"]),
        (["packages/broker/tests/test_read.py"], ["tests", "packages/broker/tests"]),
        (["packages/engineer/notes.md"], ["tests"]),
        (["pyproject.toml"], EVERYTHING),
        (["packages/celery-durable/tests/durable_harness/warm.py"], EVERYTHING),
        (None, EVERYTHING),
        ([], ["tests"]),
    ],
)
def test_a_package_is_tested_where_it_changed(paths: list[str] | None, folders: list[str]) -> None:
    assert changed.folders(NAMES, paths)[0] == folders


def test_what_is_left_out_is_said() -> None:
    assert "packages/broker, packages/engine" in changed.folders(NAMES, ["app/a.py"])[1]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A repository with two commits on main."""
    git(tmp_path, "init", "-q", "-b", "main")
    for name in ("first", "second"):
        commit(tmp_path, name)
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True)


def commit(folder: Path, name: str) -> None:
    (folder / name).write_text(name)
    git(folder, "add", name)
    git(folder, "commit", "-qm", name)


def test_on_main_the_last_commit_and_the_work_tree_are_the_change(history: Path) -> None:
    (history / "first").write_text("other")
    (history / "new file").write_text("")
    assert changed.changed_files(history) == ["first", "new file", "second"]


def test_on_a_branch_all_its_commits_are_the_change(history: Path) -> None:
    git(history, "switch", "-qc", "topic")
    commit(history, "third")
    commit(history, "fourth")
    assert changed.changed_files(history) == ["fourth", "third"]


def test_without_a_history_the_change_is_not_known(tmp_path: Path, history: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q", "-b", "main")
    assert changed.changed_files(empty) is None
    git(history, "branch", "-qm", "main", "trunk")
    assert changed.changed_files(history) is None
