"""Recorded jobs as JSON lines: written by `fairlane fairness --export`, read by `fairlane simulate`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from app.domain.plans import Tier
from app.domain.queues import JOB_QUEUES
from app.domain.simulation import Arrival, Run
from app.errors import InvalidInput
from app.services.fairness.simulate import Load


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


def _parsed(row: Any) -> tuple[Arrival, float | None]:
    at = datetime.fromisoformat(row["at"])
    if at.tzinfo is None:
        raise ValueError("`at` has no zone")
    if row["queue"] not in JOB_QUEUES:
        raise ValueError(f"there is no queue {row['queue']!r}")
    seconds, wait = float(row["seconds"]), row.get("wait_seconds")
    if not 0 <= seconds < float("inf") or (wait is not None and not 0 <= float(wait) < float("inf")):
        raise ValueError("seconds are 0 or more")
    user = None if row["user"] is None else str(row["user"])
    arrival = Arrival(at.timestamp(), user, Tier(row["tier"]), row["queue"], seconds)
    return arrival, None if wait is None else float(wait)
