"""What the tables say of the whole service, the same from whichever process answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.domain.plans import Tier
from app.domain.queues import Service
from app.services.fairness import tenants
from app.services.operations import count_events, nodes, queues, readiness, reconcile, schedule, sweep
from app.services.operations.database_health import database_health
from app.services.policy import Policy
from app.services.specifications import model_gate
from app.services.webhooks import turns
from app.store.core.unit_of_work import UnitOfWork
from app.web.operations import event_metrics

#: Of how many tenants the work is shown, those with the most waiting jobs.
MOST_TENANTS = 10
_QUEUE = (
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


class ServiceMetrics(Collector):
    """Read once per scrape."""

    def __init__(self, uow: UnitOfWork, policy: Policy) -> None:
        self._uow, self._policy = uow, policy

    def collect(self) -> Iterator[Metric]:
        """Each part is a read of its own; together they take some tens of milliseconds."""
        now = self._uow.now()
        for part in (_queues, _held, _nodes, _database, _webhooks, _model):
            yield from part(self._uow)
        yield from _maintenance(self._uow, now)
        yield from _tenants(self._uow, self._policy)
        yield from event_metrics.families(count_events.totals(self._uow))


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"fairlane_{name}", text, value=float(value))


def _queues(uow: UnitOfWork) -> Iterator[Metric]:
    rows = queues.states(uow)
    for name, text, member in _QUEUE:
        gauge = GaugeMetricFamily(f"fairlane_queue_{name}", text, labels=["queue"])
        for row in rows:
            gauge.add_metric([row.queue], float(getattr(row, member)))
        yield gauge


def _held(uow: UnitOfWork) -> Iterator[Metric]:
    held = queues.holdings(uow)
    yield _gauge("slots_taken", "Execution slots in use", held.slots)
    yield _gauge("snoozed_messages", "Messages over their user's limit", held.snoozed)
    yield _gauge("reserved_units", "Quota units reserved by unfinished jobs", held.reserved)
    yield _gauge("dead_letters", "Dead letters", held.dead)
    taken = GaugeMetricFamily("fairlane_slots_in_use", "Execution slots in use", labels=["service", "tier"])
    for service in Service:
        for tier in Tier:
            taken.add_metric([service.value, tier.value], float(held.slots_by_tier.get((service, tier), 0)))
    yield taken


def _nodes(uow: UnitOfWork) -> Iterator[Metric]:
    found = nodes.states(uow)
    count = GaugeMetricFamily("fairlane_nodes", "Celery nodes, dead ones until their leases are back", labels=["state"])
    alive = [node for node in found if node.is_alive]
    draining = [node for node in alive if node.is_draining]
    count.add_metric(["alive"], len(alive) - len(draining))
    count.add_metric(["draining"], len(draining))
    count.add_metric(["dead"], len(found) - len(alive))
    yield count
    processes = GaugeMetricFamily("fairlane_node_processes", "Processes that take from a queue", labels=["queue"])
    for queue in sorted({queue for node in alive for queue in node.queues}):
        processes.add_metric([queue], sum(node.processes or 0 for node in alive if queue in node.queues))
    yield processes


def _database(uow: UnitOfWork) -> Iterator[Metric]:
    health = database_health(uow)
    yield _gauge("database_bytes", "Size of the database", health.bytes)
    yield _gauge("database_connections", "Connections of the server", health.connections)
    yield _gauge("database_connections_limit", "Connections that the server allows", health.most_connections)
    text = "Age of the oldest transaction that the service's role may see"
    yield _gauge("database_oldest_transaction_seconds", text, health.oldest_transaction_seconds)
    yield CounterMetricFamily("fairlane_database_wal_bytes", "Bytes of log ever written", value=float(health.wal_bytes))
    dead = GaugeMetricFamily("fairlane_database_dead_rows", "Rows that wait for vacuum", labels=["table"])
    for table in health.tables:
        dead.add_metric([table.name], float(table.dead))
    yield dead


def _webhooks(uow: UnitOfWork) -> Iterator[Metric]:
    waiting = turns.waiting(uow)
    yield _gauge("webhook_deliveries_waiting", "Deliveries to be sent, now or later", waiting.deliveries)
    yield _gauge("webhook_turn_wait_seconds", "For how long an account waits for its turn, at most", waiting.seconds)


def _model(uow: UnitOfWork) -> Iterator[Metric]:
    use = model_gate.use_today(uow)
    yield _gauge("model_calls_today", "Calls of language models since midnight, UTC", use.calls)
    yield _gauge("model_tokens_today", "Tokens of those calls", use.tokens)
    yield _gauge("model_cost_today", "Cost of those calls", float(use.cost))
    yield _gauge("model_circuits_open", "Endpoints that failed and are not called", use.open_circuits)


def _maintenance(uow: UnitOfWork, now: datetime) -> Iterator[Metric]:
    orphans = float(sweep.orphans(uow))
    yield CounterMetricFamily("fairlane_orphans", "Reservations found without their job", value=orphans)
    leader, entries = schedule.shown(uow, now=now)
    yield _gauge("beat_leads", "1 while a beat leads", leader is not None and leader.is_alive)
    yield _gauge("schedule_late_entries", "Entries of the schedule that are late", sum(one.is_late for one in entries))
    if (last := reconcile.last_reconciled(uow)) is not None:
        text = "Users and periods whose bills differ from their completed jobs"
        yield _gauge("reconciliation_differences", text, last.differences)
        age = (now - last.ran_at).total_seconds()
        yield _gauge("reconciliation_age_seconds", "Since the last reconciliation", age)
    text = "How far a host's clock is ahead of the database's"
    ahead = GaugeMetricFamily("fairlane_clock_ahead_seconds", text, labels=["host", "program"])
    for labels, seconds in readiness.skews(uow).items():
        ahead.add_metric(labels, seconds)
    yield ahead


def _tenants(uow: UnitOfWork, policy: Policy) -> Iterator[Metric]:
    rows = tenants.tenants(uow, policy, most=MOST_TENANTS)
    measures: tuple[tuple[str, str, Callable[[tenants.Tenant], int]], ...] = (
        ("running", "Running jobs of the tenants with the most work", lambda row: row.running),
        ("waiting", "Waiting jobs of the tenants with the most work", lambda row: row.ready + row.held),
    )
    for name, text, number in measures:
        gauge = GaugeMetricFamily(f"fairlane_tenant_{name}", text, labels=["tenant", "service"])
        for row in rows:
            gauge.add_metric([str(row.user_id), row.service], number(row))
        yield gauge
