"""Count the events of the last 15 minutes, for a monitor."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

from app.domain.plans import Tier
from app.domain.queues import Service
from app.store.core.unit_of_work import UnitOfWork
from app.store.fairness import recent_events

SPAN = timedelta(minutes=15)
#: In seconds: small ones for the time from a wake to a worker, large ones for long waits in a line.
BOUNDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600)


@dataclass(frozen=True, slots=True)
class Histogram:
    """How long events took.

    counts: events that took up to each of BOUNDS, and last all of them; seconds: their sum.
    """

    counts: list[int]
    seconds: float


@dataclass(frozen=True, slots=True)
class Recent:
    """Figures of the last 900 seconds; fewer if not all events were read.  tier: `none` for scheduled jobs.

    promised: first starts of jobs whose accept gave an estimate, and how many were within it; slots: in use now, by
    service and tier.
    """

    seconds: float
    events: dict[str, dict[str, int]]
    waits: dict[str, Histogram]
    wakes: Histogram
    promised: tuple[int, int]
    slots: dict[tuple[str, str], int]


def count(uow: UnitOfWork, *, now: datetime, most: int = recent_events.MOST_EVENTS) -> Recent:
    """Count snoozes, wakes and starts, and how long they took.  most: how many of the newest events to read."""
    with uow.begin() as tx:
        rows = recent_events.events(tx, since=now - SPAN, bounds=BOUNDS, most=most)
        taken = {(row.service, row.tier): int(row.slots) for row in recent_events.slots(tx)}
    seconds = SPAN.total_seconds()
    events = {what: {tier.value: 0 for tier in Tier} for what in ("snoozed", "woken", "started")}
    estimates = {"kept": 0, "missed": 0}
    took: dict[tuple[str, str], list[tuple[int, int, float]]] = defaultdict(list)
    for row in rows:
        tier = row.tier or "none"
        if row.what == "read":
            seconds = min(seconds, now.timestamp() - (row.seconds or 0.0)) if row.events >= most else seconds
        elif row.what in ("kept", "missed"):
            estimates[row.what] += int(row.events)
        elif row.what in events:
            events[row.what][tier] = int(row.events)
        else:
            took[row.what, tier if row.what == "wait" else ""].append((row.bucket or 0, row.events, row.seconds or 0.0))
    return Recent(
        seconds=max(0.0, seconds),
        events=events,
        waits={tier.value: _histogram(took["wait", tier.value]) for tier in Tier},
        wakes=_histogram(took["wake", ""]),
        promised=(sum(estimates.values()), estimates["kept"]),
        slots={(service.value, tier.value): taken.get((service.value, tier.value), 0)
               for service in Service for tier in Tier},
    )  # fmt: skip


def _histogram(buckets: list[tuple[int, int, float]]) -> Histogram:
    counts = [0] * (len(BOUNDS) + 1)
    for bucket, events, _ in buckets:
        counts[bucket] += events
    return Histogram(list(accumulate(counts)), sum(seconds for _, _, seconds in buckets))
