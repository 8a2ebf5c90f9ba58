"""`testlist` as a person types it."""

import json
import os
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import IO

import pytest
from testlist import PARSER_VERSION, Facts, FileInventory, Inventory
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
    assert main([str(repository), "--", "test_a.py"]) == 0
    assert capsys.readouterr().err == ""


def test_two_commits_are_compared(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for base in (["--base", "old"], ["--compare", "old", "--commit", "main"], ["--base", "old..main"]):
        assert main([str(repository), *base]) == 0
        assert capsys.readouterr().out.splitlines()[0] == "+ test_a.py:2 test_two"
    assert main([str(repository), "--commit", "old", "--base", "main"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "- test_a.py:2 test_two"


def test_an_unknown_commit_is_told_in_one_line(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(repository), "--commit", "nowhere"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("testlist: ")
    assert line.endswith("(commit_not_found)")


#: What another system's Python lacks, or says.
ELSEWHERE = """
import os, sys
sys.platform = {platform!r}
sys.modules |= dict.fromkeys(("fcntl", "resource"))
del os.register_at_fork
"""


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_another_system_than_linux_is_refused_in_one_line(platform: str) -> None:
    elsewhere = ELSEWHERE.format(platform=platform)
    command = f"{elsewhere}from testlist.cli import program; sys.exit(program())"
    ended = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "testlist runs on Linux only: on macOS and Windows use a container, or WSL 2\n"
    library = f"{elsewhere}from testlist import inventory"
    ended = subprocess.run([sys.executable, "-c", library], capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines()[-1].startswith("ImportError: testlist runs on Linux only")


def test_json_lines_cannot_compare(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(repository), "--base", "main", "--format", "jsonl"])
    assert left.value.code == 2
    assert "--base needs --format table or json." in capsys.readouterr().err


def test_a_folder_of_a_repository_stands_for_the_repository_around_it(
    make_repository: MakeRepository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = make_repository({"test_a.py": "def test_a(): pass\n", "sub/test_b.py": "def test_b(): pass\n"})
    monkeypatch.chdir(directory / "sub")
    for arguments, names in (
        ([], ["test_b", "test_a"]),
        (["--", "test_b.py"], ["test_b"]),
        (["..", "--", "sub"], ["test_b"]),
        (["--", "../test_a*"], ["test_a"]),
    ):
        assert main(["--format", "jsonl", *arguments]) == 0
        assert [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()] == names
    assert main(["--", "../../elsewhere"]) == 2
    assert "'../../elsewhere' lies outside of the repository" in capsys.readouterr().err


def test_a_folder_without_a_repository_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == "testlist: This directory is not a Git repository. (repository_not_found)\n"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--only", "status=focused", "--exit-code"], 0),
        (["--only", "status=active", "--exit-code"], 1),
        (["--only", "status=focused", "--fail-on-empty"], 1),
        (["--fail-on-empty"], 0),
        (["--fail-on-skipped-files"], 1),
        (["--fail-on-skipped-files", "--", "test_a.py"], 0),
        (["--base", "old", "--only", "status=skipped", "--exit-code"], 0),
        (["--base", "old", "--exit-code"], 1),
        (["--fail-on-empty", "--commit", "nowhere"], 3),
    ],
)
def test_what_is_found_can_be_the_exit_code(repository: Path, options: list[str], code: int) -> None:
    assert main([str(repository), *options]) == code


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only", "status"], "--only 'status': expected FIELD=VALUE with one of the fields status, kind, framework"),
        (["--only", "status=green"], "a status is one of active, skipped, todo, focused, xfail."),
        (["--only", "framework=x"], "a framework is one of "),
        (["--exit-code"], "--exit-code needs --base, to say whether tests differ, or --only"),
    ],
)
def test_wrong_usage_is_told_with_what_is_allowed(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(options)
    assert left.value.code == 2
    assert said in capsys.readouterr().err


def test_a_reader_that_ends_early_is_no_fault(make_repository: MakeRepository) -> None:
    directory = make_repository({"test_a.py": "".join(f"def test_{n}(): pass\n" for n in range(5_000))})
    argv = [sys.executable, "-m", "testlist", str(directory), "--format", "jsonl"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        assert json.loads(command.stdout.readline())["name"] == "test_0"
        command.stdout.close()
        assert (command.stderr.read(), command.wait()) == ("", 141)


def run(*arguments: str, stdout: int | IO[bytes] = subprocess.PIPE, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "testlist", *arguments]
    return subprocess.run(argv, stdout=stdout, stderr=subprocess.PIPE, text=True, env=os.environ | env, check=False)


def test_an_output_that_cannot_be_written_is_told_in_one_line(repository: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        for arguments in ([str(repository)], ["--schema"]):
            done = run(*arguments, stdout=full)
            assert (done.returncode, done.stderr) == (
                3,
                "testlist: the output cannot be written: No space left on device\n",
            )


def test_any_terminal_can_show_the_answer(make_repository: MakeRepository) -> None:
    directory = make_repository({"test_a.py": "def test_é(): pass\n"})
    done = run(str(directory), PYTHONIOENCODING="ascii")
    assert (done.returncode, "test_\\xe9" in done.stdout) == (0, True)


def test_a_path_that_no_file_can_have_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a" * 5_000]) == 1
    assert capsys.readouterr().err.endswith("does not exist. (repository_not_found)\n")


def test_a_folder_whose_name_looks_like_a_pattern(
    make_repository: MakeRepository, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = make_repository({"d[1]/test_a.py": "def test_a(): pass\n", "d1/test_b.py": "def test_b(): pass\n"})
    for given in ("test_*.py", "test_a.py", "."):
        assert main([str(directory / "d[1]"), "--format", "jsonl", "--", given]) == 0
        assert [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()] == ["test_a"]


def test_a_command_that_is_told_to_end_leaves_no_folder(make_repository: MakeRepository, tmp_path: Path) -> None:
    directory = make_repository({"test_a.py": "def test_a(): pass\n"})
    place = tmp_path / "places"
    place.mkdir()
    os.mkfifo(directory / ".gitignore")  # git waits for it
    argv = [sys.executable, "-m", "testlist", str(directory), "--worktree"]
    with subprocess.Popen(argv, env=os.environ | {"TMPDIR": str(place)}, stderr=subprocess.PIPE) as command:
        until = time.monotonic() + 60
        while not any(place.glob("testlist-*/fairlane-git-*/index")) and time.monotonic() < until:
            time.sleep(0.02)
        command.terminate()
        command.wait()
    assert (command.returncode, list(place.glob("testlist-*"))) == (143, [])


def test_languages_that_are_not_read_are_told_where_the_format_does_not(
    make_repository: MakeRepository, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = make_repository({"test_a.py": "def test_a(): pass\n", "a_test.zig": ""})
    said = "files that look like tests, but no framework of their language is known here: 1 Zig\n"
    for form in ("jsonl", "csv"):
        assert main([str(directory), "--format", form]) == 0
        assert capsys.readouterr().err == said
    assert main([str(directory)]) == 0
    shown = capsys.readouterr()
    assert (shown.out.endswith(said), shown.err) == (True, "")


def test_why_a_file_could_not_be_read_is_told_to_its_author(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def extract(source: bytes, language: str) -> Facts:
        raise LookupError(f"no {language} in {source!r}"[:30])

    failed = FileInventory("test_a.py", git(repository, "rev-parse", "HEAD:test_a.py"), None, skipped="parse_failed")
    monkeypatch.setattr("testlist.command.inventory", lambda _, checks: Inventory("c" * 40, (failed,), "1+x"))
    monkeypatch.setattr("testlist.languages.python.facts.extract", extract)
    assert main([str(repository), "--debug"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("test_a.py:\nTraceback (most recent call last):")
    assert "LookupError: no python in b'def test_one" in said


def test_the_versions_and_the_schema_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"testlist {version('testlist')}, rules {PARSER_VERSION}\n"
    assert main(["--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "An inventory of tests"


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
