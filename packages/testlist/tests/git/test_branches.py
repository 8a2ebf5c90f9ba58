"""Branches of a repository on this machine: loose and packed, up to a number, and nothing from outside."""

import subprocess
from pathlib import Path

import pytest
from testlist.errors import InventoryError
from testlist.git import branches
from testlist.git.fetch import Source, branches_of


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "root" / "shop"
    path.mkdir(parents=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for argv in (
        ["init", "-q", "--initial-branch=main"], [*who, "commit", "-q", "--allow-empty", "-m", "first"],
        ["branch", "packed"], ["tag", "v1"], ["pack-refs", "--all"], ["branch", "feature/cart"],
    ):  # fmt: skip
        subprocess.run(["git", "-C", str(path), *argv], check=True, capture_output=True)
    return path


def listed(shop: Path, most: int = 100) -> list[str]:
    return branches_of(Source.local(shop, root=shop.parent), most)


def test_loose_and_packed_branches_are_listed_once_and_no_tags(shop: Path) -> None:
    assert listed(shop) == ["feature/cart", "main", "packed"]
    assert listed(shop, 2) == ["feature/cart", "main"]


def test_names_that_git_would_not_accept_are_left_out(shop: Path) -> None:
    for name in ("a.lock", "-option", "two words", "\x1b[31m"):
        (shop / ".git" / "refs" / "heads" / name).write_text("0" * 40, encoding="utf-8")
    assert listed(shop) == ["feature/cart", "main", "packed"]


def test_a_long_file_of_packed_branches_leaves_the_loose_ones(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "READ", 10)
    assert listed(shop) == ["feature/cart"]


def test_branches_outside_of_the_root_are_not_read(shop: Path, tmp_path: Path) -> None:
    heads = shop / ".git" / "refs" / "heads"
    outside = tmp_path / "outside"
    (outside / "secret").mkdir(parents=True)
    (outside / "secret" / "name").write_text("0" * 40, encoding="utf-8")
    (heads / "link").symlink_to(outside)
    with pytest.raises(InventoryError, match="outside"):
        listed(shop)


def test_a_remote_repository_is_not_asked() -> None:
    assert branches_of(Source.remote("https://example.org/a/b", address="192.0.2.1"), 10) == []
