"""What a hundred thousand waiting jobs of one user at the limit cost another user, and the queue."""

import time
from collections.abc import Mapping
from uuid import UUID

from app.domain.summaries import percentile
from bench.fairness.scenes.figures import Figures
from bench.fairness.service import Service, service, wait_for

LONG, SHORT, STARTS = 3_600_000, 5, 100
STARTED = """
    SELECT extract(epoch FROM min(at) FILTER (WHERE event = 'started') - min(at) FILTER (WHERE event = 'accepted'))
      FROM job_events WHERE job_id = :job GROUP BY job_id"""


def measure(sizes: Mapping[str, int]) -> Figures:
    """p95 of another user's start with an idle worker, and snoozes a second."""
    with service(1) as ours:
        hog, other = ours.user("hog"), ours.user("other")
        ours.submit(hog, LONG)
        with ours.node(2):
            wait_for(lambda: ours.count("started") == 1)
            empty = starts(ours, other)
            waiting = [ours.submit(hog, LONG) for _ in range(4)]
            ours.copy(waiting[-1], sizes["waiting"])
            before, began = ours.count("snoozed"), time.monotonic()
            full = starts(ours, other)
            wait_for(lambda: time.monotonic() - began > 60)
            snoozes = (ours.count("snoozed") - before) / (time.monotonic() - began)
    return {
        "start of another user, nothing waits, p95 ms": percentile(empty, 0.95) * 1000,
        f"start of another user, {sizes['waiting']:,} wait, p95 ms": percentile(full, 0.95) * 1000,
        "the same, p50 ms": percentile(full, 0.5) * 1000,
        "snoozes/s": snoozes,
    }


def starts(ours: Service, user_id: UUID) -> list[float]:
    """Seconds from accept to start of jobs one by one."""
    found = []
    ended = "SELECT count(*) FROM job_events WHERE event = 'completed' AND job_id = :job"
    for _ in range(STARTS):
        job_id = ours.submit(user_id, SHORT)
        wait_for(lambda: ours.value(ended, job=job_id))  # noqa: B023 - waited for right here
        found.append(float(ours.value(STARTED, job=job_id)))
    return found
