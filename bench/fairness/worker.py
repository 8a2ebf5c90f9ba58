"""The service's own worker, but for the engine: a repository's name says how many milliseconds its analysis takes.

celery -A bench.fairness.worker worker -Q analysis_default -c 4
"""

import time
from typing import Any

import tasks.analysis
from app.domain.repositories import Repository
from app.services.analyses.analyse import Taken
from tasks.celery import app

#: One test, though no file is stored: a result without a test would be billed to nobody, and be less work.
SUMMARY = {"tests": 1, "files": 0, "suites": 0, "by_status": {}, "by_framework": {}}


def nap(kit: Any, repository: Repository, *_: Any) -> Taken:  # noqa: ARG001 - as the engine is called
    """Sleep as long as the repository says."""
    time.sleep(milliseconds(repository) / 1000)
    return Taken([], SUMMARY)


def milliseconds(repository: Repository) -> int:
    """Of an analysis of it."""
    return int(repository.name.removeprefix("ms"))


tasks.analysis.take = nap

__all__ = ["app"]
