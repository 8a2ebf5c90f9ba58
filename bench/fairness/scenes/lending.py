"""Idle processes of the priority node take default work: what free jobs gain by it, and what paid ones feel."""

import time
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from uuid import UUID

from app.domain.plans import Tier
from app.domain.summaries import percentile
from bench.fairness.scenes.figures import Figures
from bench.fairness.service import Service, service, wait_for

PAID, FREE, MILLISECONDS, LONG_MILLISECONDS = 300, 600, 50, 300
PRIORITY_PROCESSES, DEFAULT_PROCESSES = 5, 1
#: Between two paid jobs, in the mean: three in ten of the processes are at work on them.
PAUSE_SECONDS = MILLISECONDS / 1000 / PRIORITY_PROCESSES / 0.3
USERS = 30

WAITS = """
    SELECT array_agg(extract(epoch FROM s.at - a.at)::float8) FROM job_events s
      JOIN job_events a ON a.job_id = s.job_id AND a.event = 'accepted'
     WHERE s.event = 'started' AND s.job_id = ANY(:jobs)"""
DONE = "SELECT count(*) FROM job_events WHERE event = 'completed' AND job_id = ANY(:jobs)"


def measure(_: Mapping[str, int]) -> Figures:
    """Waits of paid jobs without and with lending, and free jobs a second meanwhile."""
    figures = _side("off", lending=False) | _side("on", lending=True)
    for what in ("paid p50 ms", "paid p95 ms", "free jobs/s"):
        figures[f"{what}, on / off"] = figures[f"{what}, on"] / figures[f"{what}, off"]
    return figures


def _side(name: str, *, lending: bool) -> Figures:
    with service() as plain:
        ours = replace(plain, environment={**plain.environment, "QUEUE_LENDING": str(lending).lower()})
        paid = [ours.user(f"paid{number}", Tier.ENTERPRISE) for number in range(USERS)]
        free = [ours.user(f"free{number}") for number in range(USERS)]
        flood = [ours.submit(user_id, LONG_MILLISECONDS) for _ in range(FREE // USERS) for user_id in free]
        with ours.node(PRIORITY_PROCESSES, "analysis_priority"), ours.node(DEFAULT_PROCESSES):
            return _paid_stream(ours, paid, flood, name)


def _paid_stream(ours: Service, paid: list[UUID], flood: list[UUID], name: str) -> Figures:
    pauses, jobs = Random(1), []
    began, before = time.monotonic(), ours.value(DONE, jobs=flood)
    for number in range(PAID):
        jobs.append(ours.submit(paid[number % USERS], MILLISECONDS))
        time.sleep(pauses.expovariate(1 / PAUSE_SECONDS))  # paid jobs arrive at random
    rate = (ours.value(DONE, jobs=flood) - before) / (time.monotonic() - began)
    wait_for(lambda: ours.value(DONE, jobs=jobs) == PAID)
    waits = ours.value(WAITS, jobs=jobs)
    return {
        f"paid p50 ms, {name}": percentile(waits, 0.5) * 1000,
        f"paid p95 ms, {name}": percentile(waits, 0.95) * 1000,
        f"free jobs/s, {name}": rate,
    }
