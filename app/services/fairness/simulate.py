"""Simulate recorded jobs with other limits and numbers of workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain import simulation
from app.domain.plans import Tier
from app.domain.queues import JOB_QUEUES
from app.domain.simulation import Arrival, Run
from app.domain.summaries import percentile
from app.errors import InvalidInput
from app.store.core.unit_of_work import UnitOfWork
from app.store.fairness import waits


@dataclass(frozen=True, slots=True)
class Load:
    """Recorded jobs.  runs: those whose start is known; unknown: the number of jobs that have not started."""

    arrivals: list[Arrival]
    runs: list[Run]
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class TierWaits:
    """Waits of a tier in seconds, next to the recorded ones; slots: mean number taken at a time."""

    tier: Tier
    jobs: int
    wait_p50: float | None
    wait_p95: float | None
    recorded_p50: float | None
    recorded_p95: float | None
    slots: float


@dataclass(frozen=True, slots=True)
class QueueUse:
    """The share of the time that the workers of a queue are busy."""

    queue: str
    workers: int
    jobs: int
    busy: float
    jobs_per_hour: float


@dataclass(frozen=True, slots=True)
class Simulation:
    """The simulated result; turnaround: seconds from the end of a job to the next start in its process or slot."""

    jobs: int
    not_started: int
    turnaround: float
    limits: Mapping[Tier, int]
    workers: Mapping[str, int]
    tiers: list[TierWaits]
    queues: list[QueueUse]


def recorded(uow: UnitOfWork, *, since: datetime, until: datetime) -> Load:
    """Jobs that were accepted and started in the span; a running job counts with its seconds so far."""
    with uow.begin() as tx:
        courses = waits.courses(tx, since=since, until=until).courses
    runs = [run for course in courses if (run := course.recorded)]
    return Load([run.arrival for run in runs], runs, sum(course.waits for course in courses))


def simulate(load: Load, limits: Mapping[Tier, int], workers: Mapping[str, int]) -> Simulation:
    """Simulated waits by tier and use of queues, next to the recorded ones, in seconds.

    limits: slot limits by tier; workers: processes by queue.  Raises: InvalidInput without jobs.
    """
    if not load.arrivals:
        raise InvalidInput("There is no job to simulate")
    pause = simulation.turnaround(load.runs)
    runs = simulation.simulate(load.arrivals, limits, workers, turnaround=pause)
    span = max(run.ended for run in runs) - runs[0].arrival.at
    used = {run.arrival.queue for run in runs}
    return Simulation(
        jobs=len(runs),
        not_started=load.unknown,
        turnaround=round(pause, 4),
        limits=dict(limits),
        workers={queue: workers[queue] for queue in JOB_QUEUES if queue in used},
        tiers=_by_tier(runs, load.runs, span),
        queues=_by_queue(runs, workers, span),
    )


def _by_tier(runs: Sequence[Run], before: Sequence[Run], span: float) -> list[TierWaits]:
    by_tier: dict[Tier, list[Run]] = defaultdict(list)
    then: dict[Tier, list[float]] = defaultdict(list)
    for run in runs:
        by_tier[run.arrival.tier].append(run)
    for run in before:
        then[run.arrival.tier].append(run.wait)
    return [
        TierWaits(
            tier,
            len(by_tier[tier]),
            *_percentiles([run.wait for run in by_tier[tier]]),
            *_percentiles(then[tier]),
            slots=round(sum(run.arrival.seconds for run in by_tier[tier]) / span, 2),
        )
        for tier in Tier
        if by_tier[tier]
    ]


def _percentiles(waited: Sequence[float]) -> tuple[float | None, float | None]:
    if not waited:
        return None, None
    return round(percentile(waited, 0.5), 3), round(percentile(waited, 0.95), 3)


def _by_queue(runs: Sequence[Run], workers: Mapping[str, int], span: float) -> list[QueueUse]:
    by_queue: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        by_queue[run.arrival.queue].append(run.arrival.seconds)
    return [
        QueueUse(
            queue,
            workers[queue],
            len(seconds),
            busy=round(sum(seconds) / (workers[queue] * span), 3),
            jobs_per_hour=round(len(seconds) / span * 3600, 1),
        )
        for queue, seconds in sorted(by_queue.items())
    ]
