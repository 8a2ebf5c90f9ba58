"""Reading what is staged, or stands in the work tree, as git would commit it, without a trace in the repository."""

import json
import subprocess
from pathlib import Path

import pytest
from testlist.cli import main
from testlist_harness.repositories import MakeRepository, commit, git

ONE, TWO = "def test_one(): pass\n", "def test_two(): pass\n"


def names(directory: Path, part: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main([str(directory), f"--{part}", "--format", "jsonl"]) == 0
    return [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()]


def state(directory: Path) -> dict[str, tuple[int, int]]:
    found = (path.lstat() for path in sorted((directory / ".git").rglob("*")))
    return {str(number): (one.st_mtime_ns, one.st_size) for number, one in enumerate(found)}


@pytest.fixture
def repository(make_repository: MakeRepository) -> Path:
    return make_repository({"test_a.py": ONE, "test_gone.py": ONE, "kept/test_b.py": "def test_b(): pass\n"})


def test_each_is_read_as_it_is_and_nothing_is_written(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "test_a.py").write_text(TWO)
    git(repository, "add", "test_a.py")
    (repository / "test_a.py").write_text("def test_six(): pass\n")  # of the same size, in the same second
    (repository / "test_gone.py").unlink()
    (repository / "test_new.py").write_text("def test_new(): pass\n")
    (repository / "ignored_test.py").write_text(ONE)
    (repository / "test_excluded.py").write_text(ONE)
    (repository / ".gitignore").write_text("ignored_*\n")
    (repository / ".git" / "info" / "exclude").write_text("test_excluded.py\n")
    before = state(repository)
    assert names(repository, "staged", capsys) == ["test_b", "test_two", "test_one"]
    assert names(repository, "worktree", capsys) == ["test_b", "test_six", "test_new"]
    assert state(repository) == before


def test_they_are_compared_with_a_commit(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "test_a.py").write_text(ONE + TWO)
    assert main([str(repository), "--base", "HEAD", "--worktree", "--exit-code"]) == 1
    shown = capsys.readouterr()
    assert (shown.out.splitlines()[0], shown.err) == ("+ test_a.py:2 test_two", "")
    assert main([str(repository), "--base", "HEAD", "--staged", "--exit-code"]) == 0
    capsys.readouterr()
    assert main([str(repository), "--staged", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["commit"] == "staged"


def test_nothing_of_the_repositorys_configuration_is_run(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = tmp_path / "ran"
    for name in ("filter.x.clean", "filter.x.process", "core.fsmonitor", "core.hooksPath"):
        git(repository, "config", name, f"touch {ran}; cat")
    (repository / ".gitattributes").write_text("* filter=x\n")
    (repository / "test_a.py").write_text(TWO)
    assert "test_two" in names(repository, "worktree", capsys)
    names(repository, "staged", capsys)
    assert not ran.exists()


def test_a_conflict_is_read_from_the_work_tree_alone(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(repository, "checkout", "--quiet", "-b", "side")
    (repository / "test_a.py").write_text(TWO)
    commit(repository)
    git(repository, "checkout", "--quiet", "-")
    (repository / "test_a.py").write_text("def test_three(): pass\n")
    commit(repository)
    subprocess.run(["git", "-C", repository, "merge", "--quiet", "side"], check=False, capture_output=True)
    assert main([str(repository), "--staged"]) == 1
    assert "The index has conflicts" in capsys.readouterr().err
    assert "test_b" in names(repository, "worktree", capsys)


@pytest.mark.parametrize("options", [["--object-format=sha1"], ["--object-format=sha256"]])
def test_a_repository_without_a_commit_has_an_index(
    tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "--quiet", *options)
    (tmp_path / "test_a.py").write_text(ONE)
    assert names(tmp_path, "staged", capsys) == []
    assert names(tmp_path, "worktree", capsys) == ["test_one"]


def test_other_shapes_of_work_trees(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(repository, "update-index", "--split-index")
    (repository / "test_gone.py").unlink()
    (repository / "test_gone.py").mkdir()
    (repository / "test_gone.py" / "test_in.py").write_text("def test_in(): pass\n")
    (repository / "test_link.py").symlink_to("test_a.py")
    git(repository, "init", "--quiet", "inner")
    (repository / "inner" / "test_other.py").write_text(ONE)
    assert names(repository, "worktree", capsys) == ["test_b", "test_one", "test_in"]
    git(repository, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    (tmp_path / "linked" / "test_a.py").write_text(TWO)
    assert names(tmp_path / "linked", "worktree", capsys) == ["test_b", "test_two", "test_one"]
    assert names(tmp_path / "linked", "staged", capsys) == ["test_b", "test_one", "test_one"]


def test_large_files_are_named_and_what_became_a_folder_or_lies_behind_a_link_is_gone(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = b"#" * (1 << 20) + b"\n" + TWO.encode()
    (repository / "test_a.py").write_bytes(large)
    (repository / "test_large.py").write_bytes(large)
    (repository / "test_gone.py").unlink()
    (repository / "test_gone.py").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "test_b.py").write_text(ONE)
    (repository / "kept" / "test_b.py").unlink()
    (repository / "kept").rmdir()
    (repository / "kept").symlink_to(tmp_path / "elsewhere")
    assert main([str(repository), "--worktree", "--fail-on-skipped-files"]) == 1
    shown = capsys.readouterr()
    assert shown.err == "skipped test_a.py: too_large\nskipped test_large.py: too_large\n"
    assert shown.out.startswith("0 tests in 0 files")


def test_what_git_cannot_read_is_no_fault_of_a_host(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / ".git" / "index").write_bytes(b"no index")
    assert main([str(repository), "--worktree"]) == 1
    assert "Git could not read the work tree or its index" in capsys.readouterr().err


def test_a_commit_of_another_hash_has_its_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    (tmp_path / "test_a.py").write_text(ONE)
    commit(tmp_path)
    (tmp_path / "test_b.py").write_text(TWO)
    assert names(tmp_path, "worktree", capsys) == ["test_one", "test_two"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--staged", "--commit", "HEAD"], "--staged stands instead of a commit"),
        (["--worktree", "--base", "a..b"], "leave --worktree out"),
        (["--worktree", "--staged"], "not allowed with argument"),
    ],
)
def test_one_part_is_asked_for(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(options)
    assert (left.value.code, said in capsys.readouterr().err) == (2, True)


def test_a_bare_repository_has_neither(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(repository, "clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    assert main([str(tmp_path / "bare.git"), "--worktree"]) == 1
    assert "without a work tree" in capsys.readouterr().err
