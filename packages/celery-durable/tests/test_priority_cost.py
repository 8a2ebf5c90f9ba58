"""What a claim with priorities reads does not grow with what waits."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
from celery_durable.options import Options
from celery_durable.statements import statements
from durable_harness.broker import Broker
from durable_harness.database import Database
from durable_harness.plans import explain, pages
from durable_harness.sessions import Sessions
from durable_harness.turns import Turns

SQL = statements(Options(listen=False))
CLAIM = {"queue": "main", "count": 1, "owner": None, "lease": 900, "floor": 0, "sleep": 0}
FILL = """
    SELECT count(*) FROM durable_publish_many(
        array_fill('main'::text, ARRAY[%(n)s]), array_fill('{}'::text, ARRAY[%(n)s]),
        ARRAY(SELECT %(tenant)s || n || %(mark)s FROM generate_series(1, %(n)s) AS n), array_fill(%(tenant)s::text, ARRAY[%(n)s]),
        array_fill(NULL::text, ARRAY[%(n)s]), array_fill(NULL::float8, ARRAY[%(n)s]), array_fill(100, ARRAY[%(n)s]),
        array_fill(%(priority)s::int, ARRAY[%(n)s]))"""
WAKE = "SELECT durable_wake((SELECT id FROM durable_queue), 'ann', 1)"
TABLES = ("durable_message", "durable_ready", "durable_lease", "durable_waiting")


@pytest.fixture
def turns(database: Database, broker: Broker) -> Turns:
    database.make()  # without statistics of what other tests had in it
    for table in TABLES:
        broker.query(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
    made = Turns(broker)
    made.add_queue()
    return made


def fill(turns: Turns, tenant: str, number: int, priority: int | None) -> None:
    given = {"n": number, "tenant": tenant, "priority": priority, "mark": "" if priority is None else " first"}
    assert turns.run(FILL, given) == [(0,)]  # so many were not stored


def reads(turns: Turns, floor: int = 0) -> list[dict[str, Any]]:
    found = explain(turns.broker, SQL.claim, {**CLAIM, "floor": floor}, times=10)
    return [node for node in found if node.get("Relation Name") in TABLES and node["Node Type"] != "ModifyTable"]


@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize(
    ("low", "high"), [(10_000, 1), (1, 10_000), (5_000, 5_000)], ids=["one high", "one low", "as many of both"]
)
def test_a_claim_reads_one_row_for_each_question(turns: Turns, low: int, high: int, statistics: bool) -> None:
    fill(turns, "ann", low, None)
    fill(turns, "few", 3, None)
    fill(turns, "ann", high, 9)
    if statistics:
        turns.broker.query(f"ANALYZE {', '.join(TABLES)}")
    [first] = turns.claim()
    assert first.task == "ann1 first"
    found = reads(turns)
    assert {node.get("Index Name") for node in found} <= {
        "durable_ready_order", "durable_ready_prioritized", "durable_ready_priority", "durable_ready_pkey",
        "durable_message_pkey",
    }  # fmt: skip
    assert "durable_ready_priority" in {node.get("Index Name") for node in found}
    assert max(node["Actual Rows"] for node in found) <= 1
    assert sum(node.get("Rows Removed by Filter", 0) for node in found) == 0


def test_a_queue_is_claimed_as_before_when_its_priorities_are_over(turns: Turns) -> None:
    fill(turns, "ann", 100, None)
    fill(turns, "ann", 20, 9)
    assert "durable_ready_priority" in {node.get("Index Name") for node in reads(turns)}
    while turns.run("SELECT 1 FROM durable_ready WHERE priority IS NOT NULL"):
        turns.claim()
    assert "durable_ready_priority" not in {node.get("Index Name") for node in reads(turns)}


@pytest.mark.parametrize(("ordinary", "high"), [(30_000, 0), (30_000, 30), (30, 30_000)])
def test_a_wake_does_not_read_what_waits(turns: Turns, ordinary: int, high: int) -> None:
    turns.run("SELECT broker_park('main', 'ann', 30)")
    fill(turns, "ann", ordinary, None)
    turns.run(
        """WITH given AS (INSERT INTO durable_message (payload, queue_id, task_id, tenant, priority)
                          SELECT '{}', (SELECT id FROM durable_queue), 'h' || n, 'ann', 5 FROM generate_series(1, %s) AS n
                          RETURNING id, queue_id)
           INSERT INTO durable_waiting (id, queue_id, tenant, reason, priority)
           SELECT id, queue_id, 'ann', 'parked', 5 FROM given""", (high,))  # fmt: skip
    assert pages(turns.connection, WAKE) < 200
    woken = turns.run("SELECT task_id FROM durable_message JOIN durable_ready USING (id) ORDER BY rank")
    assert [task for (task,) in woken] == [f"h{number}" if high else f"ann{number}" for number in range(1, 8)]


def from_rank(turns: Turns, rank: int) -> list[str]:
    """Claims where a busy node goes on; those from the begin are less frequent the longer they take."""
    claim = "SELECT m.task_id FROM durable_claim('main', 1, NULL, 900, %s, 0) AS c JOIN durable_message AS m ON m.id = c.message_id"
    return [task for (task,) in turns.run(claim, (rank,))]


def test_a_queue_is_asked_for_priorities_all_the_time_when_a_claim_from_the_begin_has_met_one(turns: Turns) -> None:
    known = "SELECT has_priorities FROM durable_queue"
    fill(turns, "ann", 5, None)
    rank = turns.turns()[0][0]
    assert "durable_ready_prioritized" not in {node.get("Index Name") for node in reads(turns, floor=rank)}
    fill(turns, "ann", 4, 9)
    assert from_rank(turns, rank) == ["ann1"]
    with ExitStack() as stack:
        session = Sessions(turns.broker, stack).session()
        session.run("SELECT FROM durable_queue FOR NO KEY UPDATE")  # who pauses it, in a transaction that is long
        assert from_rank(turns, 0) == ["ann2"]
        assert turns.run(known) == [(False,)]
        session.run("ROLLBACK")
    assert from_rank(turns, 0) == ["ann1 first"]
    assert turns.run(known) == [(True,)]
    assert from_rank(turns, rank) == ["ann2 first"]


def test_behind_claims_of_an_old_snapshot_a_queue_is_not_asked_in_vain(turns: Turns) -> None:
    """Entries of what was claimed stay in the indexes, and are below the rank where a node goes on."""
    turns.publish("first", 9, "bob")
    turns.end(*turns.claim())
    with ExitStack() as stack:
        old = Sessions(turns.broker, stack).session("REPEATABLE READ")
        old.run("SELECT 1 FROM durable_ready")
        fill(turns, "ann", 3_000, 9)
        while got := turns.claim(500):
            turns.end(*got)
        fill(turns, "ann", 100, None)
        rank = turns.turns()[0][0]
        assert "durable_ready_prioritized" in {node.get("Index Name") for node in reads(turns, floor=rank)}
        assert pages(turns.connection, f"SELECT durable_claim('main', 1, NULL, 900, {rank}, 0)") < 200


def test_behind_an_old_snapshot_a_batch_reads_the_turns_that_were_given_away_once(turns: Turns) -> None:
    fill(turns, "ann", 3_000, None)
    fill(turns, "ann", 1, 9)  # from now on each message takes the turn of the one before
    batch = "SELECT durable_claim('main', 50, NULL, 900, 0, 0)"
    with ExitStack() as stack:
        old = Sessions(turns.broker, stack).session("REPEATABLE READ")
        old.run("SELECT 1 FROM durable_ready")
        early = pages(turns.connection, batch)
        turns.run("SELECT count(*) FROM durable_claim('main', 2000, NULL, 900, 0, 0)")
        assert pages(turns.connection, batch) < early + 1000
