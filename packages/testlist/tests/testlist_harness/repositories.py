"""Fixtures of the inventory tests: throw-away repositories made with real git."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from testlist import Inventory, ParseLimits, Source, fetched, inventory, resolve

MakeRepository = Callable[..., Path]
TakeInventory = Callable[..., Inventory]


def git(directory: Path, *argv: str, feed: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run git as a developer would and return its output."""
    whole = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
        **(env or {}),
    }
    done = subprocess.run(["git", "-C", str(directory), *argv], input=feed, env=whole, capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.fixture
def make_repository(tmp_path: Path) -> MakeRepository:
    """Make a repository of one commit.  files: path -> text or bytes."""

    def make(files: Mapping[str, str | bytes], name: str = "repo") -> Path:
        directory = tmp_path / name
        directory.mkdir()
        git(directory, "init", "--quiet", "--initial-branch=main")
        for path, content in files.items():
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        commit(directory)
        return directory

    return make


def commit(directory: Path) -> str:
    """Commit everything: returns the commit id."""
    git(directory, "add", "--all", "--force")
    git(directory, "commit", "--quiet", "--allow-empty", "--message=state")
    return git(directory, "rev-parse", "HEAD")


@pytest.fixture
def take(tmp_path: Path) -> TakeInventory:
    """Take the inventory of a local repository."""

    def run(
        repository: Path, ref: str | None = None, *, limits: ParseLimits | None = None, **options: object
    ) -> Inventory:
        source = Source.local(repository)
        commit_id, _ = resolve(source, ref)
        with fetched(source, commit_id, workdir=tmp_path / "work") as repo:
            return inventory(repo, limits=limits, **options)  # type: ignore[arg-type]

    return run
