"""Claims and polls read their own index, whatever the statistics say and whoever waits in front."""

from typing import Any

import pytest

from tasks.broker.options import Options
from tasks.broker.statements import statements
from tests.broker.conftest import Broker

FILL = """
    INSERT INTO kombu_message (queue_id, payload, visible, visible_at, task_id)
    SELECT queue.id, repeat('x', 300), %s, CASE WHEN NOT %s THEN now() + interval '1 h' END, gen_random_uuid()
      FROM kombu_queue AS queue, generate_series(1, %s) WHERE name = %s"""
SQL = statements(Options())


@pytest.fixture(params=["without statistics", "with statistics", "with statistics of an empty table"])
def crowded(broker: Broker, request: pytest.FixtureRequest) -> Broker:
    """Thousands of delayed messages before the ready ones, and another queue full of ready ones."""
    broker.query("ALTER TABLE kombu_message SET (autovacuum_enabled = off)")
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main'), ('other'), ('empty')")
    if "empty" in request.param:
        broker.query("VACUUM ANALYZE kombu_message")
    for visible, number, queue in ((False, 20_000, "main"), (True, 5_000, "main"), (True, 20_000, "other")):
        broker.query(FILL, visible, visible, number, queue)
    if request.param == "with statistics":
        broker.query("VACUUM ANALYZE kombu_message")
    return broker


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in nodes(child))]


def explain(broker: Broker, statement: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    connection = broker.connect()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", given)
        plan = cursor.fetchone()[0][0]["Plan"]
    connection.close()
    return nodes(plan)


def test_a_claim_reads_the_index_of_ready_messages_only(crowded: Broker) -> None:
    found = explain(crowded, SQL.claim, {"queue": "main", "count": 32, "owner": 1, "lease": 15})
    touched = [node for node in found if node.get("Relation Name") == "kombu_message" and "Index Name" in node]
    assert {node["Index Name"] for node in touched} <= {"kombu_message_ready", "kombu_message_pkey"}
    assert not [node for node in found if node["Node Type"] in ("Seq Scan", "Sort") and "message" in str(node)]
    assert sum(node.get("Rows Removed by Filter", 0) for node in found) == 0
    assert max(node["Actual Rows"] for node in found) == 32


@pytest.mark.parametrize("queues", [["main"], ["empty"], ["main", "empty", "other"]])
def test_a_poll_scans_no_table(crowded: Broker, queues: list[str]) -> None:
    found = explain(crowded, SQL.poll, {"queues": queues, "owner": 1, "settled": True})
    scans = [node for node in found if node.get("Relation Name") == "kombu_message"]
    assert not [node for node in scans if node["Node Type"] == "Seq Scan"]
    assert sum(node.get("Rows Removed by Filter", 0) + node["Actual Rows"] for node in scans) <= 10
