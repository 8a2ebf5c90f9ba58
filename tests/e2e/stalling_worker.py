"""The service's own worker, but for repositories called `slow` and `huge`.

A slow one it fetches, and then waits to be let go on; for a huge one it allocates 1 GiB.

celery -A tests.e2e.stalling_worker worker -Q analysis_default.  So a job is under way for as long as a test wants, where
a repository that is large enough would take the processor from the other tests.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from testlist import Inventory

import tasks.analysis
from app.domain.repositories import Repository
from app.services.analyses.analyse import Taken
from tasks.celery import app

SLOW, HUGE = "slow", "huge"
#: They go on when this file is there.
GO_ON = Path(os.environ["GO_ON"])

take, inventory = tasks.analysis.take, tasks.analysis.inventory
now = ""  # the repository: a child has one job at a time


def remembered(kit: Any, repository: Repository, *given: Any) -> Taken:
    global now  # noqa: PLW0603
    now = repository.name
    return take(kit, repository, *given)


def stalled(repo: Any, *, checkpoint: Any, **options: Any) -> Inventory:
    names = [bytes(2**20) for _ in range(1024)] if now == HUGE else []
    while now == SLOW and not GO_ON.exists():
        checkpoint("parsing", 0, 1)  # raises when the job has to stop
        time.sleep(0.05)
    del names
    return inventory(repo, checkpoint=checkpoint, **options)


tasks.analysis.take = remembered
tasks.analysis.inventory = stalled

__all__ = ["app"]
