"""The metrics as text: read from the tables, at most once in a few seconds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from threading import Lock
from time import monotonic
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeHistogramMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import Engine

from app.services.fairness import count_events
from app.services.fairness.count_events import Histogram
from app.services.operations import queues, readiness, reconcile, sweep
from app.store.core.unit_of_work import UnitOfWork

#: How long a text is reused, so that many scrapes cost the database one.
KEPT_SECONDS = 3.0
_texts: WeakKeyDictionary[Engine, tuple[float, bytes]] = WeakKeyDictionary()
_reading = Lock()


def current(uow: UnitOfWork) -> bytes:
    """The metrics in Prometheus' text form, at most 3 s old.  Requests that come meanwhile wait for the same text."""
    with _reading:
        until, text = _texts.get(uow.engine, (0.0, b""))
        if monotonic() >= until:
            registry = CollectorRegistry(auto_describe=False)
            registry.register(_Facts(uow))
            text = generate_latest(registry)
            _texts[uow.engine] = (monotonic() + KEPT_SECONDS, text)
        return text


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
        yield from _reconciled(reconcile.last_reconciled(self._uow), self._uow.now())
        yield _skews(self._uow)
        yield from _fairness(count_events.count(self._uow, now=self._uow.now()))


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
    for labels, seconds in readiness.skews(uow).items():
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
    promised, kept = found.promised
    yield GaugeMetricFamily(
        "fairlane_recent_estimates", "First starts for which the accept gave an estimate", value=promised
    )
    yield GaugeMetricFamily("fairlane_recent_estimates_kept", "First starts within that estimate", value=kept)


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    bounds = [*(f"{bound:g}" for bound in count_events.BOUNDS), "+Inf"]
    return list(zip(bounds, histogram.counts, strict=True))
