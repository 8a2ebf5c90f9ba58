"""Repositories of the soak's own, whose commits are asked for one after the other."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from pathlib import Path

from bench.service import make_repository

REPOSITORIES, COMMITS = 30, 400
#: Later commits of `make_repository` have as many files each; results that grow would look like a leak.
ALIKE = 20


def made(root: Path) -> Commits:
    """New repositories in a folder."""
    root.mkdir()
    commits = {f"shop{n}": make_repository(root / f"shop{n}", COMMITS)[ALIKE:] for n in range(REPOSITORIES)}
    return Commits(commits)


class Commits:
    """The commits of all repositories, round and round: what was analysed is pruned before its turn comes again."""

    def __init__(self, repositories: dict[str, Sequence[str]]) -> None:
        longest = max(len(commits) for commits in repositories.values())
        turns = [
            (name, commits[n]) for n in range(longest) for name, commits in repositories.items() if n < len(commits)
        ]
        self._next, self._lock = itertools.cycle(turns), threading.Lock()

    def take(self) -> tuple[str, str]:
        """The next one; threads may ask at once."""
        with self._lock:
            return next(self._next)
