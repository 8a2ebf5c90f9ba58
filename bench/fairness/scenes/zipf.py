"""A thousand users, of whom few have most of the jobs: what limits cost the throughput."""

import random
from collections.abc import Mapping

from bench.fairness.scenes.figures import Figures
from bench.fairness.service import service, wait_for

USERS, JOBS, MILLISECONDS, PROCESSES, SEED = 1_000, 4_000, 20, 8, 7
#: Ends left out at the beginning and at the end, where not all processes work.
EDGE = 0.1
RATE = """
    SELECT (:last - :first) / extract(epoch FROM max(at) FILTER (WHERE n = :last) - max(at) FILTER (WHERE n = :first))
      FROM (SELECT at, row_number() OVER (ORDER BY at) AS n FROM job_events WHERE event = 'completed') AS ends"""


def measure(_: Mapping[str, int]) -> Figures:
    """Jobs a second with the limits of the free tier, and without."""
    figures: Figures = {}
    for name, enabled in (("off", False), ("on", True)):
        with service(1 if enabled else None, enabled=enabled) as ours:
            users = [ours.user(f"u{number}") for number in range(USERS)]
            weights = [1 / (rank + 1) for rank in range(USERS)]
            for user_id in random.Random(SEED).choices(users, weights, k=JOBS):
                ours.submit(user_id, MILLISECONDS)
            first, last = int(JOBS * EDGE), int(JOBS * 0.6)
            with ours.node(PROCESSES):
                wait_for(lambda: ours.count("completed") >= last)  # noqa: B023 - waited for right here
            figures[f"limits {name}, jobs/s"] = float(ours.value(RATE, first=first, last=last))
            figures[f"limits {name}, snoozes"] = ours.count("snoozed")
    return figures | {"on / off": figures["limits on, jobs/s"] / figures["limits off, jobs/s"]}
