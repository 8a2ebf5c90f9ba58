"""How long after a slot is freed the user's next job starts."""

from collections.abc import Mapping

from app.domain.summaries import percentile
from bench.fairness.scenes.figures import Figures
from bench.fairness.service import service, wait_for

JOBS, MILLISECONDS, PROCESSES = 400, 20, 3
#: The user's next job starts after each end, in the order of the timeline.
GAPS = """
    SELECT extract(epoch FROM n.at - e.at) FROM job_events e
      JOIN LATERAL (SELECT at FROM job_events s WHERE s.event = 'started' AND s.id > e.id
                     ORDER BY s.id LIMIT 1) AS n ON true
     WHERE e.event = 'completed'"""


def measure(_: Mapping[str, int]) -> Figures:
    """From the end of one of a user's jobs to the start of the next; limit 1, and workers to spare."""
    with service(1) as ours:
        own = ours.user("own")
        for _ in range(JOBS):
            ours.submit(own, MILLISECONDS)
        with ours.node(PROCESSES):
            wait_for(lambda: ours.count("completed") == JOBS)
        gaps = [float(gap) for (gap,) in ours.rows(GAPS)]
        snoozes = ours.count("snoozed")
    return {
        "release to start, p50 ms": percentile(gaps, 0.5) * 1000,
        "release to start, p99 ms": percentile(gaps, 0.99) * 1000,
        "snoozes": snoozes,
    }
