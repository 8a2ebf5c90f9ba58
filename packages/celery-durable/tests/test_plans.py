"""Claims and polls read their own index, whatever the statistics say and whoever waits in front."""

from typing import Any

import pytest
from celery_durable.options import Options
from celery_durable.statements import statements
from durable_harness.broker import Broker
from durable_harness.database import Database
from durable_harness.plans import explain
from psycopg2.extensions import AsIs

FILL = """
    INSERT INTO kombu_message (queue_id, payload, visible, visible_at, task_id, rank)
    SELECT queue.id, repeat('x', 300), %s, CASE WHEN NOT %s THEN now() + interval '1 h' END, gen_random_uuid(), n
      FROM kombu_queue AS queue, generate_series(1, %s) AS n WHERE name = %s"""
SQL = statements(Options(listen=False))


@pytest.fixture(params=["without statistics", "with statistics", "with statistics of an empty table"])
def crowded(database: Database, broker: Broker, request: pytest.FixtureRequest) -> Broker:
    """Thousands of delayed messages before the ready ones, and another queue full of ready ones."""
    database.make()  # without statistics of what other tests had in it
    broker.query("ALTER TABLE kombu_message SET (autovacuum_enabled = off)")
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main'), ('other'), ('empty')")
    if "empty" in request.param:
        broker.query("VACUUM ANALYZE kombu_message")
    for visible, number, queue in ((False, 10_000, "main"), (True, 2_500, "main"), (True, 10_000, "other")):
        broker.query(FILL, visible, visible, number, queue)
    if request.param == "with statistics":
        broker.query("VACUUM ANALYZE kombu_message")
    return broker


def of_messages(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        node for node in found if node.get("Relation Name") == "kombu_message" and node["Node Type"] != "ModifyTable"
    ]


def test_a_claim_reads_the_index_of_ready_messages_only(crowded: Broker) -> None:
    given = {"queue": "main", "count": 32, "owner": 1, "lease": 15, "floor": 0, "sleep": 0}
    found = explain(crowded, SQL.claim, given, times=10)
    assert {node.get("Index Name") for node in of_messages(found)} == {"kombu_message_ready", "kombu_message_pkey"}
    assert "Sort" not in {node["Node Type"] for node in found}
    assert sum(node.get("Rows Removed by Filter", 0) for node in found) == 0
    assert max(node["Actual Rows"] for node in of_messages(found)) == 32


def test_a_publish_reads_the_ends_of_two_indexes(crowded: Broker) -> None:
    def given(user: Any, delay: float | None = None) -> tuple[Any, ...]:
        return ("main", "{}", None, user, None, delay, 100, None, None)

    assert of_messages(explain(crowded, SQL.publish, given("ann", 60), 10)) == []
    last, head = "kombu_message_group", "kombu_message_ready"
    for user, indexes in (("ann", {last}), (AsIs("gen_random_uuid()::text"), {last, head})):  # again and again, or new
        found = of_messages(explain(crowded, SQL.publish, given(user), 10))
        assert {node.get("Index Name") for node in found} == indexes
        assert sum(node.get("Rows Removed by Filter", 0) + node["Actual Rows"] for node in found) <= 2


@pytest.mark.parametrize("since", [None, "2020-01-01"], ids=["whole", "since"])
def test_a_poll_scans_no_table(crowded: Broker, since: str | None) -> None:
    for queues in (["main"], ["empty"], ["main", "empty", "other"]):
        given = {"queues": queues, "owner": 1, "settled": True, "since": since, "prefetch": 10}
        scans = of_messages(explain(crowded, SQL.poll, given, times=2))
        assert "Seq Scan" not in {node["Node Type"] for node in scans}
        assert sum(node.get("Rows Removed by Filter", 0) + node["Actual Rows"] for node in scans) <= 10
