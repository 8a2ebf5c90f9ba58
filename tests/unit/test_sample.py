"""The repository that comes with the service: the same everywhere, whole, and worth a first look."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from app import sample
from app.cli.inventory import inventory
from app.local_repositories import addresses


def head(root: Path) -> str:
    asked = ["git", "-C", str(root / sample.NAME), "rev-parse", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def test_it_is_the_same_commit_whoever_makes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample.make(tmp_path / "one")
    (tmp_path / ".gitconfig").write_text(
        "[user]\nname = Somebody\n[core]\nautocrlf = true\n[init]\ndefaultBranch = x\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("TZ", "Asia/Seoul")
    sample.make(tmp_path / "two")
    monkeypatch.delenv("GIT_DIR")
    assert head(tmp_path / "one") == head(tmp_path / "two")
    assert not (tmp_path / "elsewhere").exists()


def test_it_is_not_made_again_over_what_somebody_did_with_it(tmp_path: Path) -> None:
    sample.make(tmp_path)
    (tmp_path / sample.NAME / "mine.py").write_text("pass\n")
    sample.make(tmp_path)
    assert (tmp_path / sample.NAME / "mine.py").exists()
    assert [path.name for path in tmp_path.iterdir()] == [sample.NAME]


def test_it_shows_three_languages_and_every_status_but_focused(tmp_path: Path) -> None:
    sample.make(tmp_path)
    done = CliRunner().invoke(inventory, [str(tmp_path / sample.NAME), "--format", "jsonl"])
    assert done.exit_code == 0
    for word in ("pytest", "vitest", "go-testing", "active", "skipped", "todo", "xfail"):
        assert f'"{word}"' in done.stdout


def test_only_repositories_that_can_be_asked_for_are_offered(tmp_path: Path) -> None:
    sample.make(tmp_path)
    for name in ("has a space", "notes"):
        (tmp_path / name).mkdir()
    (tmp_path / "has a space" / ".git").mkdir()
    assert addresses(tmp_path, 5) == ["local:sample"]
    assert addresses(tmp_path / "missing", 5) == []
