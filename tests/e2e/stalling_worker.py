"""The service's own worker, but for repositories called `slow`, `parsed` and `huge`.

A slow one it fetches, and then waits to be let go on, with a parsed one it waits while it parses; for a huge one it
allocates 400 MB in small pieces, and then waits.

celery -A tests.e2e.stalling_worker worker -Q analysis_default.  So a job is under way for as long as a test wants, where
a repository that is large enough would take the processor from the other tests.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from testlist import Inventory

import tasks.analysis
import tasks.stopping
from app.domain.repositories import Repository
from app.services.analyses.analyse import Taken
from tasks.celery import app

SLOW, PARSED, HUGE = "slow", "parsed", "huge"
#: They go on when this file is there.
GO_ON = Path(os.environ["GO_ON"])

Checkpoint = Callable[..., None]

take, inventory = tasks.analysis.take, tasks.analysis.inventory
now = ""  # the repository: a child has one job at a time


def remembered(kit: Any, repository: Repository, *given: Any) -> Taken:
    global now  # noqa: PLW0603
    now = repository.name
    return take(kit, repository, *given)


def stalled(repo: Any, *, checkpoint: Checkpoint, **options: Any) -> Inventory:
    names = [{number: number} for number in range(1_800_000 if now == HUGE else 0)]

    def waited(*progress: Any) -> None:
        checkpoint(*progress)
        wait(PARSED, checkpoint, progress)

    for name in (SLOW, HUGE):
        wait(name, checkpoint, ("parsing", 0, 1))
    del names
    return inventory(repo, checkpoint=waited, **options)


def wait(name: str, checkpoint: Checkpoint, progress: tuple[Any, ...]) -> None:
    """Let a repository of this name wait while it is parsed; `checkpoint` raises when the job has to stop."""
    while now == name and progress[0] == "parsing" and not GO_ON.exists():
        checkpoint(*progress)
        time.sleep(0.05)  # a pause between two looks


#: A busy machine may take longer to end a process that was killed.
tasks.stopping.REAP_SECONDS = 60.0
tasks.analysis.take = remembered
tasks.analysis.inventory = stalled

__all__ = ["app"]
