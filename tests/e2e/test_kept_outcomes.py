"""A process of the pool keeps nothing of the deliveries that ended otherwise than completed.

These raise, and Celery keeps the frames with copies of their code in a cycle of 0.4 MB.  The collector of garbage got
there after some hundred jobs, with 10 MB more in each process; the soak saw it.
"""

from __future__ import annotations

from uuid import uuid4

import pytest
from durable_harness.waiting import wait_for

from app.domain.repositories import Repository
from app.services.analyses.submission import Wanted
from tests.e2e.conftest import System

pytestmark = pytest.mark.proof

JOBS = 40
UNFINISHED = "SELECT 1 FROM kombu_message"


def test_of_jobs_that_fail_no_more_than_the_last_one_is_in_memory(system: System) -> None:
    counts, user = system.nodes.folder / "counts", system.user()
    system.make_repository("shop")
    for _ in range(JOBS):
        commit = uuid4().hex + uuid4().hex[:8]
        system.world.submit(user, Wanted(Repository("local", "-", "shop"), commit))
    system.nodes.worker(app="tests.e2e.counting_worker", COUNTS=str(counts))
    wait_for(lambda: not system.world.rows(UNFINISHED), "all jobs to fail", seconds=300)
    assert system.world.rows("SELECT DISTINCT error_code FROM analyses") == [{"error_code": "commit_not_found"}]
    found = [int(line) for line in counts.read_text(encoding="ascii").split()]
    assert len(found) >= JOBS
    assert max(found) <= 2, found
