"""The service's own worker, but for repositories called `slow`: it fetches them, and then waits to be let go on.

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

SLOW = "slow"
#: They go on when this file is there.
GO_ON = Path(os.environ["GO_ON"])

take, inventory = tasks.analysis.take, tasks.analysis.inventory
stalls = False  # a child has one job at a time


def remembered(kit: Any, repository: Repository, *given: Any) -> Taken:
    global stalls  # noqa: PLW0603
    stalls = repository.name == SLOW
    return take(kit, repository, *given)


def stalled(repo: Any, *, checkpoint: Any, **options: Any) -> Inventory:
    while stalls and not GO_ON.exists():
        checkpoint("parsing", 0, 1)  # raises when the job has to stop
        time.sleep(0.05)
    return inventory(repo, checkpoint=checkpoint, **options)


tasks.analysis.take = remembered
tasks.analysis.inventory = stalled

__all__ = ["app"]
