"""Simulate recorded jobs with other limits and numbers of workers."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.domain import simulation
from app.domain.plans import Tier
from app.domain.queues import ALL_QUEUES
from app.domain.simulation import Arrival, Run
from app.domain.summaries import percentile
from app.errors import InvalidInput
from app.store import waits
from app.store.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Load:
    """Recorded jobs.  runs: those whose start is known; unknown: the number of jobs that have not started."""

    arrivals: list[Arrival]
    runs: list[Run]
    unknown: int = 0


def recorded(uow: UnitOfWork, *, since: datetime, until: datetime) -> Load:
    """Jobs that were accepted and started in the span; a running job counts with its seconds so far."""
    with uow.begin() as tx:
        courses = waits.courses(tx, since=since, until=until).courses
    runs = [run for course in courses if (run := course.recorded)]
    return Load([run.arrival for run in runs], runs, sum(course.waits for course in courses))


def lines(load: Load) -> Iterator[str]:
    """Write a load as JSON lines, one for each job that has started, by the time of its accept."""
    for run in sorted(load.runs, key=lambda run: run.arrival.at):
        arrival = run.arrival
        yield json.dumps(
            {
                "at": datetime.fromtimestamp(arrival.at, UTC).isoformat(),
                "user": arrival.user,
                "tier": arrival.tier.value,
                "queue": arrival.queue,
                "seconds": round(arrival.seconds, 6),
                "wait_seconds": round(run.wait, 6),
            }
        )


def read(log: Iterable[str]) -> Load:
    """Read a load from JSON lines; `wait_seconds` is optional.  Raises: InvalidInput with the number of the line."""
    arrivals: list[Arrival] = []
    runs: list[Run] = []
    for number, line in enumerate(log, 1):
        if not line.strip():
            continue
        try:
            arrival, wait = _parsed(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"line {number} is not a recorded job: {error!r}") from error
        arrivals.append(arrival)
        if wait is not None:
            runs.append(Run(arrival, arrival.at + wait))
    return Load(arrivals, runs)


def simulate(load: Load, limits: Mapping[Tier, int], workers: Mapping[str, int]) -> dict[str, Any]:
    """Simulated waits by tier and use of queues, next to the recorded ones, in seconds.

    limits: slot limits by tier; workers: processes by queue.  Raises: InvalidInput without jobs.
    """
    if not load.arrivals:
        raise InvalidInput("There is no job to simulate")
    pause = simulation.turnaround(load.runs)
    runs = simulation.simulate(load.arrivals, limits, workers, turnaround=pause)
    span = max(run.ended for run in runs) - runs[0].arrival.at
    used = {run.arrival.queue for run in runs}
    return {
        "jobs": len(runs),
        "not_started": load.unknown,
        "turnaround": round(pause, 4),
        "limits": {tier.value: slots for tier, slots in limits.items()},
        "workers": {queue: workers[queue] for queue in ALL_QUEUES if queue in used},
        "tiers": _by_tier(runs, load.runs, span),
        "queues": _by_queue(runs, workers, span),
    }


def _by_tier(runs: Sequence[Run], before: Sequence[Run], span: float) -> list[dict[str, Any]]:
    told: dict[Tier, list[Run]] = defaultdict(list)
    then: dict[Tier, list[float]] = defaultdict(list)
    for run in runs:
        told[run.arrival.tier].append(run)
    for run in before:
        then[run.arrival.tier].append(run.wait)
    return [
        {
            "tier": tier.value,
            "jobs": len(told[tier]),
            **_waits("wait", [run.wait for run in told[tier]]),
            **_waits("recorded", then[tier]),
            "slots": round(sum(run.arrival.seconds for run in told[tier]) / span, 2),
        }
        for tier in Tier
        if told[tier]
    ]


def _waits(name: str, waited: Sequence[float]) -> dict[str, float | None]:
    shares = {"p50": 0.5, "p95": 0.95}
    return {f"{name}_{what}": round(percentile(waited, share), 3) if waited else None for what, share in shares.items()}


def _by_queue(runs: Sequence[Run], workers: Mapping[str, int], span: float) -> list[dict[str, Any]]:
    told: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        told[run.arrival.queue].append(run.arrival.seconds)
    return [
        {
            "queue": queue,
            "workers": workers[queue],
            "jobs": len(seconds),
            "busy": round(sum(seconds) / (workers[queue] * span), 3),
            "jobs_per_hour": round(len(seconds) / span * 3600, 1),
        }
        for queue, seconds in sorted(told.items())
    ]


def _parsed(row: Any) -> tuple[Arrival, float | None]:
    at = datetime.fromisoformat(row["at"])
    if at.tzinfo is None:
        raise ValueError("`at` has no zone")
    if row["queue"] not in ALL_QUEUES:
        raise ValueError(f"there is no queue {row['queue']!r}")
    seconds, wait = float(row["seconds"]), row.get("wait_seconds")
    if not 0 <= seconds < float("inf") or (wait is not None and not 0 <= float(wait) < float("inf")):
        raise ValueError("seconds are 0 or more")
    user = None if row["user"] is None else str(row["user"])
    arrival = Arrival(at.timestamp(), user, Tier(row["tier"]), row["queue"], seconds)
    return arrival, None if wait is None else float(wait)
