"""Endpoints for monitoring: alive, ready, metrics."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from apiflask import APIBlueprint
from flask import Flask, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeHistogramMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.errors import Unavailable
from app.services.fairness import count_events
from app.services.fairness.count_events import Histogram
from app.services.operations import clock_skew, queues, readiness, reconcile, sweep
from app.store.unit_of_work import UnitOfWork
from app.web.context import utc_now, wired

health = APIBlueprint("health", __name__, enable_openapi=False)


def init(app: Flask) -> None:
    """Register the three routes."""
    app.register_blueprint(health)


@health.get("/healthz")
def alive() -> dict[str, str]:
    """Answer that this process works."""
    return {"status": "ok"}


@health.get("/readyz")
def ready() -> dict[str, Any]:
    """Check that what this process needs is available: database, schema, queues."""
    checks = readiness.readiness(wired().uow)
    if any(word != "ok" for word in checks.values()):
        faults = "; ".join(f"{name}: {word}" for name, word in checks.items() if word != "ok")
        raise Unavailable(faults, retry_after=2, checks=checks)
    return {"status": "ready", "checks": checks, "clock_ahead_seconds": clock_skew.ahead(wired().uow)}


@health.get("/metrics")
def metrics() -> Response:
    """Metrics from the tables, the same from whichever process answers."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Facts(wired().uow))
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Facts(Collector):
    """Read once per scrape."""

    _GAUGES = (
        ("depth", "Messages ready to be claimed", "ready"),
        ("oldest_age_seconds", "Age of the oldest ready message", "oldest_seconds"),
        (
            "oldest_parked_age_seconds",
            "Age of the oldest message that waits for a slot of its user",
            "oldest_parked_seconds",
        ),
        ("leased", "Messages leased to a worker", "leased"),
        ("delayed", "Messages due later", "delayed"),
        ("parked", "Messages of groups at their limit, to be woken", "parked"),
        ("paused", "1 while the operator has paused the queue", "paused"),
    )

    def __init__(self, uow: UnitOfWork) -> None:
        self._uow = uow

    def collect(self) -> Iterator[Metric]:
        """One gauge per column, one sample per queue."""
        rows = queues.states(self._uow)
        for name, text, member in self._GAUGES:
            gauge = GaugeMetricFamily(f"fairlane_queue_{name}", text, labels=["queue"])
            for row in rows:
                gauge.add_metric([row.queue], float(getattr(row, member)))
            yield gauge
        orphans = sweep.orphans(self._uow)
        yield CounterMetricFamily("fairlane_orphans", "Reservations found without their job", value=float(orphans))
        yield from _held(queues.holdings(self._uow))
        yield from _reconciled(reconcile.last_reconciled(self._uow), utc_now())
        yield _skews(self._uow)
        yield from _fairness(count_events.count(self._uow, now=utc_now()))


def _held(held: queues.Holdings) -> Iterator[Metric]:
    yield GaugeMetricFamily("fairlane_slots_taken", "Execution slots in use", value=float(held.slots))
    yield GaugeMetricFamily("fairlane_snoozed_messages", "Messages over their user's limit", value=float(held.snoozed))
    yield GaugeMetricFamily(
        "fairlane_reserved_units", "Quota units reserved by unfinished jobs", value=float(held.reserved)
    )
    yield GaugeMetricFamily("fairlane_dead_letters", "Dead letters", value=float(held.dead))


def _reconciled(last: reconcile.LastReconciled | None, now: datetime) -> Iterator[Metric]:
    if last is None:
        return
    yield GaugeMetricFamily(
        "fairlane_reconciliation_differences",
        "Users and periods whose bills differ from their completed jobs",
        value=float(last.differences),
    )
    age = (now - last.ran_at).total_seconds()
    yield GaugeMetricFamily("fairlane_reconciliation_age_seconds", "Since the last reconciliation", value=age)


def _skews(uow: UnitOfWork) -> Metric:
    text = "How far a host's clock is ahead of the database's"
    gauge = GaugeMetricFamily("fairlane_clock_ahead_seconds", text, labels=["host", "program"])
    for labels, seconds in clock_skew.skews(uow).items():
        gauge.add_metric(labels, seconds)
    return gauge


def _fairness(found: count_events.Recent) -> Iterator[Metric]:
    yield GaugeMetricFamily("fairlane_recent_seconds", "Time span of the metrics named recent", value=found.seconds)
    taken = GaugeMetricFamily("fairlane_slots_in_use", "Execution slots in use", labels=["service", "tier"])
    for labels, slots in found.slots.items():
        taken.add_metric(labels, slots)
    yield taken
    for what, name in (("snoozed", "snoozes"), ("woken", "wakes"), ("started", "starts")):
        gauge = GaugeMetricFamily(f"fairlane_recent_{name}", f"Recent {name} of jobs", labels=["tier"])
        for tier, events in found.events[what].items():
            gauge.add_metric([tier], events)
        yield gauge
    waits = GaugeHistogramMetricFamily("fairlane_recent_wait_seconds", "From accept to first start", labels=["tier"])
    for tier, histogram in found.waits.items():
        waits.add_metric([tier], _buckets(histogram), histogram.seconds)
    yield waits
    wakes = GaugeHistogramMetricFamily("fairlane_recent_wake_seconds", "From a wake to the start of the job")
    wakes.add_metric([], _buckets(found.wakes), found.wakes.seconds)
    yield wakes
    told, kept = found.promised
    yield GaugeMetricFamily(
        "fairlane_recent_estimates", "First starts for which the accept gave an estimate", value=told
    )
    yield GaugeMetricFamily("fairlane_recent_estimates_kept", "First starts within that estimate", value=kept)


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    bounds = [*(f"{bound:g}" for bound in count_events.BOUNDS), "+Inf"]
    return list(zip(bounds, histogram.counts, strict=True))
