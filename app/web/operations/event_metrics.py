"""The totals of what happened to jobs, as counters and histograms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from app.domain.plans import Tier
from app.domain.queues import Service
from app.services.operations.count_events import BOUNDS
from app.store.operations.event_totals import TotalRow

#: Names that have a metric of their own; every other name is an event of a timeline.
_TIMES = ("wait", "wake", "run")
_ESTIMATES = {"estimate_kept": "true", "estimate_missed": "false"}
_WEBHOOK = "webhook"
#: Events that alarms ask for: they are there from the beginning, so that their first increase is seen.
_ALWAYS = ("accepted", "started", "completed", "failed", "lost")


def families(rows: Sequence[TotalRow]) -> Iterator[Metric]:
    """One counter for each kind of thing that happens, and a histogram for each time."""
    yield _events(rows)
    for name, event, text in (
        ("failures", "failed", "Jobs that ended as failed"),
        ("retries", "retrying", "Attempts that failed and are tried again"),
    ):
        counter = CounterMetricFamily(f"fairlane_job_{name}", text, labels=["service", "code"])
        _fill(counter, (((row.service, row.code), row.events) for row in rows if row.name == event))
        yield counter
    kept = CounterMetricFamily("fairlane_job_estimates", "First starts, by whether the estimate held", labels=["kept"])
    first = [((word,), 0) for word in _ESTIMATES.values()]
    _fill(kept, [*first, *(((_ESTIMATES[row.name],), row.events) for row in rows if row.name in _ESTIMATES)])
    yield kept
    sent = CounterMetricFamily("fairlane_webhook_attempts", "Posts to webhooks", labels=["result"])
    _fill(sent, (((row.code,), row.events) for row in rows if row.name == _WEBHOOK))
    yield sent
    yield _times(rows, "wait", "From accept to first start", ("service", "tier"))
    yield _times(rows, "wake", "From a wake to the start", ("service",))
    yield _times(rows, "run", "From the last start to the end", ("service", "outcome"))


def _events(rows: Sequence[TotalRow]) -> Metric:
    labels = ["event", "service", "tier"]
    counter = CounterMetricFamily("fairlane_job_events", "What happened to jobs", labels=labels)
    tiers = [*(tier.value for tier in Tier), "none"]
    known = [((event, service.value, tier), 0) for event in _ALWAYS for service in Service for tier in tiers]
    others = {*_TIMES, *_ESTIMATES, _WEBHOOK}
    counted = [((row.name, row.service, row.tier), row.events) for row in rows if row.name not in others]
    _fill(counter, [*known, *counted])
    return counter


def _fill(counter: CounterMetricFamily, counted: Iterable[tuple[tuple[str, ...], int]]) -> None:
    sums: dict[tuple[str, ...], int] = defaultdict(int)
    for labels, events in counted:
        sums[labels] += events
    for labels in sorted(sums):
        counter.add_metric(labels, float(sums[labels]))


def _times(rows: Sequence[TotalRow], name: str, text: str, labels: Sequence[str]) -> Metric:
    histogram = HistogramMetricFamily(f"fairlane_job_{name}_seconds", text, labels=labels)
    counts: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
    seconds: dict[tuple[str, ...], float] = defaultdict(float)
    for row in rows:
        if row.name == name:
            key = tuple({"service": row.service, "tier": row.tier, "outcome": row.code}[label] for label in labels)
            counts[key][row.bucket] += row.events
            seconds[key] += row.seconds
    bounds = [*(f"{bound:g}" for bound in BOUNDS), "+Inf"]
    for key in sorted(counts):
        histogram.add_metric(key, list(zip(bounds, accumulate(counts[key]), strict=True)), seconds[key])
    return histogram
