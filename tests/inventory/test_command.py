"""`fairlane inventory` as a person types it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from testlist import FileInventory, Inventory, Test
from testlist_harness.repositories import MakeRepository, commit, git

from app.cli.inventory import inventory
from app.cli.tables import drawn


def run(*arguments: str) -> Result:
    return CliRunner().invoke(inventory, list(arguments))


@pytest.fixture
def repository(make_repository: MakeRepository) -> Path:
    directory = make_repository({"test_a.py": "def test_one(): pass\n\ndef test_two(): pass\n"})
    git(directory, "tag", "old")
    (directory / "test_a.py").rename(directory / "test_b.py")
    (directory / "test_c.py").write_text("import pytest\n@pytest.mark.skipif(True, reason='x')\ndef test_new(): pass\n")
    commit(directory)
    return directory


def test_a_pipe_gets_plain_text(repository: Path) -> None:
    lines = run(str(repository)).stdout.splitlines()
    assert lines[0] == "active    pytest  test_b.py:1  test_one"
    assert lines[2] == "skipped?  pytest  test_c.py:3  test_new"


def test_two_commits_are_compared(repository: Path) -> None:
    assert run(str(repository), "--commit", "old", "--compare", "main").stdout.splitlines() == [
        "+ test_c.py:3 test_new",
        "> test_a.py:1 test_one -> test_b.py:1",
        "> test_a.py:3 test_two -> test_b.py:3",
        "1 added, 0 removed, 2 moved, 0 renamed, 0 status changed, 0 unchanged",
    ]
    found = json.loads(run(str(repository), "--commit", "old", "--compare", "main", "--format", "json").stdout)
    assert (found["before"], found["totals"]["moved"]) == (git(repository, "rev-parse", "old"), 2)


def test_a_comparison_has_no_json_lines_and_an_unknown_commit_is_told(repository: Path) -> None:
    assert run(str(repository), "--compare", "main", "--format", "jsonl").exit_code == 2
    failed = run(str(repository), "--compare", "nowhere")
    assert (failed.exit_code, "commit_not_found" in failed.stderr) == (1, True)


def test_a_terminal_gets_a_table_without_control_characters_of_the_repository() -> None:
    tests = (
        Test("a.py", "pytest", ("TestA",), "test_\x1b[31m[red]", 3, cases=2),
        Test("a.py", "pytest", (), "test_b", 9, status="skipped", conditional=True),
    )
    out = drawn(Inventory("c", (FileInventory("a.py", "1", "pytest", tests),), "1"))
    assert "test_\ufffd[31m[red]" in out
    assert "under a condition" in out
    assert "2 tests in 1 files" in out
