"""`fairlane inventory` as a person types it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from testlist import FileInventory, Inventory, Test
from testlist_harness.repositories import MakeRepository, commit, git

from app.cli import main
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
    assert run(str(repository), "--base", "old").stdout.splitlines() == [
        "+ test_c.py:3 test_new",
        "> test_a.py:1 test_one -> test_b.py:1",
        "> test_a.py:3 test_two -> test_b.py:3",
        "1 added, 0 removed, 2 moved, 0 renamed, 0 status changed, 0 unchanged",
    ]
    found = json.loads(run(str(repository), "--base", "old", "--format", "json").stdout)
    assert (found["before"], found["totals"]["moved"]) == (git(repository, "rev-parse", "old"), 2)


def test_a_comparison_has_no_json_lines_and_an_unknown_commit_is_told(repository: Path) -> None:
    assert run(str(repository), "--base", "main", "--format", "jsonl").exit_code == 2
    failed = run(str(repository), "--base", "nowhere")
    assert (failed.exit_code, "commit_not_found" in failed.stderr) == (1, True)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--base", "old..main"], 0), (["--base", "old..main", "--exit-code"], 1),
        (["--base", "main..@", "--exit-code"], 0), (["--base", "old", "--exit-code"], 1),
        (["--base", "nowhere", "--exit-code"], 3), (["--exit-code"], 2),
        (["--commit", "old", "--base", "old..main"], 2),
    ],
)  # fmt: skip
def test_a_change_has_an_exit_code_if_it_is_asked_for(repository: Path, options: list[str], code: int) -> None:
    assert run(str(repository), *options).exit_code == code


def test_a_range_of_three_dots_begins_where_both_sides_began_to_differ(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "side", "HEAD~1")
    (repository / "test_d.py").write_text("def test_side(): pass\n")
    commit(repository)
    found = json.loads(run(str(repository), "--base", "main...side", "--format", "json").stdout)
    assert (found["before"], found["totals"]["added"]) == (git(repository, "rev-parse", "old"), 1)
    assert found["totals"]["moved"] == 0
    two = json.loads(run(str(repository), "--base", "main..", "--format", "json").stdout)
    assert (two["after"], two["totals"]["removed"]) == (git(repository, "rev-parse", "side"), 1)


@pytest.mark.proof
def test_uncommitted_files_are_counted_where_head_is_read(repository: Path) -> None:
    assert run(str(repository)).stderr == ""
    (repository / "test_b.py").write_text("")
    (repository / "test_e.py").write_text("def test_new(): pass\n")
    (repository / "ignored").write_text("")
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "exclude").write_text("ignored\n")
    head = git(repository, "rev-parse", "HEAD")[:10]
    named = (["--commit", "@"], ["--commit", "HEAD~0"], ["--commit", git(repository, "branch", "--show-current")])
    compared = (
        ["--base", "old"],
        ["--base", "old.."],
        ["--base", "old...@"],
        ["--commit", "old", "--base", "HEAD"],
    )
    for options in ([], *named, *compared):
        said = run(str(repository), *options).stderr
        assert said == f"2 changed files are not read: this is commit {head}, not the work tree\n"
    assert run(str(repository), "--commit", "old").stderr == ""
    (repository / ".git" / "info" / "exclude").unlink()
    assert run(str(repository)).stderr.startswith("3 changed files are not read")


def test_counting_them_runs_nothing_of_the_repositorys_configuration(repository: Path, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    git(repository, "config", "filter.x.clean", f"touch {trace}; cat")
    git(repository, "config", "core.fsmonitor", f"touch {trace}; false")
    git(repository, "config", "diff.x.textconv", f"touch {trace}; cat")
    (repository / ".gitattributes").write_text("* filter=x diff=x\n")
    (repository / "test_b.py").write_text("def test_two(): pass\n")
    assert "2 changed files" in run(str(repository)).stderr
    assert not trace.exists()


@pytest.mark.parametrize(
    ("where", "said"),
    [("/nonexistent", "The path '/nonexistent' does not exist"), ("nowhere", "The path 'nowhere' does not exist"),
     (__file__, "is a file, not a repository"), ("acme/shop/x", "known forms")],
)  # fmt: skip
def test_a_place_that_is_no_repository_is_named(where: str, said: str) -> None:
    done = CliRunner().invoke(main, ["inventory", where])
    assert (done.exit_code, said in done.stderr) == (1, True), done.stderr


def test_a_terminal_gets_a_table_without_control_characters_of_the_repository() -> None:
    tests = (
        Test("a.py", "pytest", ("TestA",), "test_\x1b[31m[red]", 3, cases=2),
        Test("a.py", "pytest", (), "test_b", 9, status="skipped", conditional=True),
    )
    out = drawn(Inventory("c", (FileInventory("a.py", "1", "pytest", tests),), "1"))
    assert "test_\ufffd[31m[red]" in out
    assert "under a condition" in out
    assert "2 tests in 1 files" in out
