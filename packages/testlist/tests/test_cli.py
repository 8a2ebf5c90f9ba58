"""`testlist` as a person types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from testlist.cli import main
from testlist_harness.repositories import MakeRepository, commit, git


@pytest.fixture
def repository(make_repository: MakeRepository) -> Path:
    directory = make_repository({"test_a.py": "def test_one(): pass\n", "test_large.py": b"\0" * 64})
    git(directory, "tag", "old")
    (directory / "test_a.py").write_text("def test_one(): pass\ndef test_two(): pass\n")
    commit(directory)
    return directory


def test_tests_go_to_stdout_and_files_that_were_not_read_to_stderr(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(repository), "--format", "jsonl"]) == 0
    printed = capsys.readouterr()
    assert [json.loads(line)["name"] for line in printed.out.splitlines()] == ["test_one", "test_two"]
    assert printed.err == "skipped test_large.py: binary\n"


def test_two_commits_are_compared(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(repository), "--commit", "old", "--compare", "main"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "+ test_a.py:2 test_two"


def test_an_unknown_commit_is_told_in_one_line(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(repository), "--commit", "nowhere"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("testlist: ")
    assert line.endswith("(commit_not_found)")


def test_json_lines_cannot_compare(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(repository), "--compare", "main", "--format", "jsonl"])
    assert left.value.code == 2
    assert "--compare needs --format table or json." in capsys.readouterr().err


def test_only_languages_of_the_commit_are_imported(repository: Path) -> None:
    code = """if True:
        import sys
        from testlist.cli import main
        assert main(sys.argv[1:]) == 0
        print(*{name.split(".")[2] for name in sys.modules if ".frameworks." in name})
    """
    argv = [sys.executable, "-c", code, str(repository), "--format", "jsonl"]
    *rows, languages = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.splitlines()
    assert (len(rows), languages) == (2, "python")
