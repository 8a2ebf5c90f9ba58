"""Commits that a benchmark adds to a copy of a repository."""

import os
import subprocess
import tempfile
from pathlib import Path

WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def next_commit(repository: Path, commit: str, file: str) -> str:
    """Add a commit that appends an empty line to one file; its id.  No branch points at it."""
    content = _git(repository, "cat-file", "blob", f"{commit}:{file}")
    blob = _git(repository, "hash-object", "-w", "--stdin", feed=content + b"\n").decode().strip()
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        _git(repository, "read-tree", commit, **index)
        _git(repository, "update-index", "--cacheinfo", f"100644,{blob},{file}", **index)
        tree = _git(repository, "write-tree", **index).decode().strip()
    return _git(repository, *WHO, "commit-tree", tree, "-p", commit, "-m", "one file").decode().strip()


def _git(repository: Path, *argv: str, feed: bytes = b"", **environment: str) -> bytes:
    argv = ("git", "-C", str(repository), *argv)
    return subprocess.run(argv, input=feed, env=os.environ | environment, check=True, capture_output=True).stdout
