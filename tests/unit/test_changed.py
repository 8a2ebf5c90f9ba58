"""What `make quick` runs after a change (tools/changed.py)."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT

_spec = spec_from_file_location("changed", ROOT / "tools" / "changed.py")
assert _spec is not None
assert _spec.loader is not None
changed = module_from_spec(_spec)
sys.modules[_spec.name] = changed  # dataclasses look their module up
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
    assert [one for one in changed.selection(NAMES, paths)[0] if not one.startswith("--")] == folders


def test_what_is_left_out_is_said() -> None:
    assert "packages/broker, packages/engine" in changed.selection(NAMES, ["app/a.py"])[1]


def left_out(*paths: str) -> set[str]:
    """The folders and kinds of tests of the service that a change leaves out."""
    arguments, _ = changed.selection([], paths, ROOT)
    ignored = [Path(one.removeprefix("--ignore=")) for one in arguments if one.startswith("--ignore=")]
    assert all((ROOT / path).is_file() for path in ignored)
    return {path.parent.name for path in ignored}


EMBEDDED, SENTENCES, MIGRATIONS = "embedded", "specview", "contract"


@pytest.mark.parametrize(
    ("path", "runs"),
    [
        ("app/web/analyses/pages.py", set()),
        ("app/web/templates/jobs/job.html", set()),
        ("app/embedded/postmaster.py", {EMBEDDED}),
        ("app/embedded/a_template.conf", {EMBEDDED}),
        ("app/processes.py", {EMBEDDED}),
        ("tests/harness/service_harness/canaries.json", {SENTENCES}),
        ("app/specview/titles.py", {SENTENCES}),
        ("app/domain/specification.py", {SENTENCES}),
        ("migrations/online.py", {MIGRATIONS}),
        ("app/store/sql/rates.sql", {MIGRATIONS}),
        ("app/migrate.py", {MIGRATIONS}),
        ("packages/celery-durable/src/celery_durable/sql/claim.sql", {MIGRATIONS}),
        ("tests/conftest.py", {EMBEDDED, SENTENCES, MIGRATIONS}),
        ("tests/databases.py", {EMBEDDED, SENTENCES, MIGRATIONS}),
    ],
)
def test_a_closed_area_is_tested_where_something_changed_that_it_uses(path: str, runs: set[str]) -> None:
    assert left_out(path) == {EMBEDDED, SENTENCES, MIGRATIONS} - runs


def test_of_the_contracts_only_migrations_are_ever_left_out() -> None:
    arguments, _ = changed.selection([], ["app/web/analyses/pages.py"], ROOT)
    ignored = {Path(one).name for one in arguments if one.startswith("--ignore=tests/contract/")}
    assert ignored == {
        "test_known_addresses.py", "test_migration_locks.py", "test_migration_plan.py", "test_migrations.py",
        "test_migrations_beside_writers.py", "test_usage_backfill.py",
    }  # fmt: skip


def test_what_is_imported_is_followed_through_packages_and_relative_imports(tmp_path: Path) -> None:
    for name, text in {
        "tests/test_a.py": "from app import shop\nimport app.deep.well\nimport os",
        "app/__init__.py": "",
        "app/shop/__init__.py": "from .till import Till",
        "app/shop/till.py": "from ..coins import Coin",
        "app/coins.py": "",
        "app/deep/__init__.py": "",
        "app/deep/well.py": "",
        "app/other.py": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = {str(path.relative_to(tmp_path)) for path in changed.imported([tmp_path / "tests/test_a.py"], tmp_path)}
    assert found == {
        "tests/test_a.py", "app/__init__.py", "app/shop/__init__.py", "app/shop/till.py", "app/coins.py",
        "app/deep/__init__.py", "app/deep/well.py",
    }  # fmt: skip


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
