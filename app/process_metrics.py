"""What the processes of one instance count, each in files that the others read (docs/adr/0080).

Where they are is decided before this is imported, by app/server/metrics_folder.py.
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from app.exchanges import Exchange
from app.version import VERSION

#: By app/server/metrics_folder.py, which imports nothing of this.
_IS_SHARED = "PROMETHEUS_MULTIPROC_DIR" in os.environ
_REGISTRY = CollectorRegistry(auto_describe=True)
#: Seconds: what a read, a look-up of a commit, and a slow client take.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
#: Any other one is the client's invention.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
#: Routes whose answers last as long as their readers stay.
STREAMS = "/events"

requests = Counter("fairlane_http_requests", "Answered requests", ["method", "route", "status"], registry=_REGISTRY)
request_seconds = Histogram(
    "fairlane_http_request_seconds",
    "From the head of a request to the last byte of its answer",
    ["method", "route"],
    buckets=BOUNDS,
    registry=_REGISTRY,
)
refusals = Counter("fairlane_http_refusals", "Requests that were refused", ["reason"], registry=_REGISTRY)
connections = Gauge(
    "fairlane_http_connections", "Open connections of clients", multiprocess_mode="livesum", registry=_REGISTRY
)
lane_taken = Gauge(
    "fairlane_lane_taken", "Requests in a lane", ["lane"], multiprocess_mode="livesum", registry=_REGISTRY
)
lane_places = Gauge(
    "fairlane_lane_places", "Requests that a lane takes", ["lane"], multiprocess_mode="livesum", registry=_REGISTRY
)
pool_in_use = Gauge(
    "fairlane_database_pool_in_use",
    "Connections of the pool that a transaction has",
    multiprocess_mode="livesum",
    registry=_REGISTRY,
)
replica_reads = Counter(
    "fairlane_replica_reads",
    "Reads that the replica may answer, by the reason why the primary did: none if the replica has answered",
    ["reason"],
    registry=_REGISTRY,
)
mails = Counter("fairlane_mails", "Mails", ["result"], registry=_REGISTRY)
_build = Gauge(
    "fairlane_build_info", "The release", ["version"], multiprocess_mode="livemostrecent", registry=_REGISTRY
)


def observe(exchange: Exchange) -> None:
    """Count a request that is over."""
    method = exchange.method if exchange.method in METHODS else "other"
    route = exchange.route or "none"
    requests.labels(method, route, str(exchange.status or "none")).inc()
    if not route.endswith(STREAMS):
        request_seconds.labels(method, route).observe(exchange.seconds)
    if exchange.refusal is not None:
        refusals.labels(exchange.refusal).inc()


def text() -> bytes:
    """The metrics of all processes of this instance, in Prometheus' text form."""
    _build.labels(VERSION).set(1)
    if not _IS_SHARED:
        return generate_latest(_REGISTRY)
    registry = CollectorRegistry(auto_describe=False)
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # it has no types
    return generate_latest(registry)
