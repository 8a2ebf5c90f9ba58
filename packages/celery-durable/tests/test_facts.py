"""Facts of queues and groups: exact while few wait, near enough beyond, and cheap whoever waits."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from celery_durable.facts import GroupFacts, QueueFacts, group_facts, queue_facts
from celery_durable.park import park
from durable_harness.broker import Broker
from durable_harness.plans import explain
from durable_harness.taker import Taker

#: three standard errors; the ids, and so the sample, are the same in each run
NEAR = 0.15
STATES = {
    "ready": "INSERT INTO durable_ready SELECT id, queue_id, tenant, n FROM made",
    "delayed": "INSERT INTO durable_waiting SELECT id, queue_id, tenant, (ARRAY['eta', 'retry', 'snooze'])[1 + n % 3],"
    " clock_timestamp() + interval '1 h' FROM made",
    "parked": "INSERT INTO durable_waiting SELECT id, queue_id, tenant, 'parked' FROM made",
}
FILL = """
    WITH stored AS (
        INSERT INTO durable_message (queue_id, payload, task_id, tenant)
        SELECT q.id, '{{}}', gen_random_uuid(), {group} FROM durable_queue q, generate_series(1, {number}) n
         WHERE name = '{queue}' RETURNING id, queue_id, tenant),
    made AS (SELECT id, queue_id, coalesce(tenant, '') AS tenant, row_number() OVER (ORDER BY id) AS n FROM stored)
    {state}"""
TABLES = ("durable_message", "durable_ready", "durable_lease", "durable_waiting")


@pytest.fixture
def queues(broker: Broker) -> Broker:
    for table in TABLES:
        broker.query(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main'), ('other')")
    return broker


def fill(broker: Broker, state: str, number: int, queue: str = "main", group: str = "NULL::text") -> None:
    broker.query(FILL.format(state=STATES[state], number=number, queue=queue, group=group))


def facts(broker: Broker, queue: str = "main") -> QueueFacts:
    with broker.connect() as connection:
        return {found.queue: found for found in queue_facts(connection)}[queue]


def groups(broker: Broker, queue: str = "main", **options: Any) -> list[GroupFacts]:
    with broker.connect() as connection:
        return group_facts(connection, queue, **options)


@contextmanager
def old_transaction(broker: Broker) -> Iterator[None]:
    connection = broker.connect()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE held (); SELECT pg_current_xact_id()")
        yield
    connection.rollback()
    connection.close()


def test_a_queue_nobody_used_has_nothing(queues: Broker) -> None:
    assert facts(queues) == QueueFacts("main", False, 0, 0.0, 0, 0, 0, 0, 0, [])


@pytest.mark.proof
def test_each_message_counts_once_where_it_is(queues: Broker) -> None:
    for number in range(9):
        queues.send("work", task_id=str(number), headers={"tenant": "bob" if number < 6 else None})
    queues.send("work", queue="other", countdown=60)
    Taker(queues.kombu(), ("main",), 2).take(2)
    queues.send("work", countdown=60, headers={"tenant": "ann"})
    queues.query("UPDATE kombu_queue SET paused_at = now() WHERE name = 'other'")
    queues.query(
        "INSERT INTO kombu_dead_letter (queue, reason) VALUES ('main', 'lost'), ('main', 'lost'), (NULL, 'lost')"
    )
    queues.query(
        "INSERT INTO kombu_message (queue_id, payload) SELECT id, 'stock' FROM kombu_queue WHERE name = 'main'"
    )
    with queues.connect() as connection:
        assert park(connection, "main", "bob") == 5
    queues.query("UPDATE kombu_message SET visible_at = visible_at - interval '1 h' WHERE task_id = '8'")
    found = facts(queues)
    assert found._replace(oldest_seconds=0) == QueueFacts("main", False, 3, 0, 2, 1, 0, 5, 2, [])
    assert 3600 <= found.oldest_seconds < 3660
    assert facts(queues, "other") == QueueFacts("other", True, 0, 0.0, 0, 1, 0, 0, 0, [])


@pytest.mark.proof
@pytest.mark.parametrize("listen", [True, False])
def test_leases_count_with_and_without_a_lock_and_after_their_end(queues: Broker, listen: bool) -> None:
    for _ in range(30):
        queues.send("work")
    fill(queues, "delayed", 20_000)  # so many that leases are not looked for among them
    Taker(queues.kombu(listen=listen), ("main",), 10).take(10)
    assert (facts(queues).ready, facts(queues).leased) == (20, 10)
    queues.query("UPDATE kombu_message SET visible_at = now() - interval '1 s' WHERE lease_token IS NOT NULL")
    assert facts(queues).leased == 10
    assert sum(found.leased for found in groups(queues)) == 10


def test_numbers_are_exact_up_to_ten_thousand(queues: Broker) -> None:
    for state in STATES:
        fill(queues, state, 10_000)
    queues.query("INSERT INTO kombu_dead_letter (queue, reason) SELECT 'main', 'lost' FROM generate_series(1, 10000)")
    found = facts(queues)
    assert (found.ready, found.delayed, found.parked, found.dead) == (10_000,) * 4
    assert found.snoozed == 3333
    assert found.estimated == []


@pytest.mark.proof
@pytest.mark.parametrize("number", [10_500, 40_000])
def test_more_are_estimated_wherever_they_lie(queues: Broker, number: int) -> None:
    for state in ("delayed", "ready", "parked"):
        fill(queues, state, number * (3 if state == "delayed" else 1))
    queues.query(
        f"INSERT INTO kombu_dead_letter (queue, reason) SELECT 'main', 'lost' FROM generate_series(1, {number})"
    )
    queues.query("DELETE FROM kombu_message WHERE id % 2 = 0 AND visible")
    fill(queues, "ready", number // 2)
    found = facts(queues)
    assert sorted(found.estimated) == ["dead", "delayed", "parked", "ready"]
    for name, actual in (("ready", number), ("delayed", 3 * number), ("parked", number), ("dead", number)):
        assert abs(getattr(found, name) / actual - 1) < NEAR, name


@pytest.mark.proof
def test_the_groups_with_the_most_waiting_come_first(queues: Broker) -> None:
    fill(queues, "ready", 300, group="'ann'")
    fill(queues, "parked", 200, group="'bob'")
    fill(queues, "delayed", 200, group="'bob'")
    fill(queues, "ready", 50)
    fill(queues, "delayed", 9, queue="other", group="'ann'")
    queues.query(
        "UPDATE kombu_message SET visible_at = now() - interval '1 h' WHERE user_id = 'ann' AND visible AND rank = 1"
    )
    found = groups(queues)
    assert [(one.group, one.ready, one.delayed, one.parked) for one in found] == [
        ("bob", 0, 200, 200), ("ann", 300, 0, 0), ("", 50, 0, 0),
    ]  # fmt: skip
    assert 3600 <= found[1].oldest_seconds < 3660
    assert groups(queues, most=1)[0].group == "bob"
    assert groups(queues, group="ann")[0][:2] == ("ann", 300)
    assert groups(queues, "other", group="ann")[0].delayed == 9
    assert groups(queues, group="nobody") == [GroupFacts("nobody", 0, 0.0, 0, 0, 0, [])]


@pytest.mark.proof
def test_in_a_full_queue_the_large_groups_are_found_and_one_is_counted(queues: Broker) -> None:
    fill(queues, "ready", 30_000, group="'small' || n % 1000")
    fill(queues, "ready", 20_000, group="'large'")
    fill(queues, "delayed", 9_000, group="'second'")
    found = groups(queues, most=4)
    assert [one.group for one in found[:2]] == ["large", "second"]
    assert abs(found[0].ready / 20_000 - 1) < 0.2
    assert abs(found[1].delayed / 9_000 - 1) < 0.2
    assert (found[0].estimated, found[1].estimated) == (["ready"], ["delayed"])
    for name, actual, estimated in (("large", 20_000, ["ready"]), ("small7", 30, [])):
        [one] = groups(queues, group=name)
        assert abs(one.ready / actual - 1) < (NEAR if estimated else 1e-9)
        assert one.estimated == estimated
    assert groups(queues, group="second")[0][4:] == (9_000, 0, [])


@pytest.mark.proof
def test_what_an_old_transaction_keeps_does_not_count(queues: Broker) -> None:
    with old_transaction(queues):
        fill(queues, "ready", 3000)
        fill(queues, "parked", 3000)
        queues.query("DELETE FROM kombu_message WHERE id % 3 > 0")
        found = facts(queues)
    assert (found.ready, found.parked, found.estimated) == (1000, 1000, [])


@pytest.mark.proof
@pytest.mark.parametrize("analyzed", [True, False], ids=["statistics", "no statistics"])
def test_what_is_read_is_bounded_however_many_wait(queues: Broker, analyzed: bool) -> None:
    if not analyzed:
        queues.query(f"ANALYZE {', '.join(TABLES)}")  # of the empty tables
    for state in STATES:
        fill(queues, state, 50_000 if state == "delayed" else 20_000, group="'user' || n % 2")
    if analyzed:
        queues.query(f"VACUUM ANALYZE {', '.join(TABLES)}")
    for statement in ("SELECT * FROM durable_facts()", "SELECT * FROM durable_groups('main', NULL, 20)"):
        reads = [node for node in explain(queues, statement, {}, times=2) if node.get("Relation Name") in TABLES]
        assert reads
        assert {node["Node Type"] for node in reads} <= {"Index Scan", "Index Only Scan"}
        assert sum(node["Actual Rows"] * node["Actual Loops"] for node in reads) < 12_000
        assert sum(node.get("Rows Removed by Filter", 0) for node in reads) == 0


@pytest.mark.proof
def test_producers_of_other_kinds_count_too(queues: Broker) -> None:
    queues.send("work")
    assert queues.value("SELECT count(*) FROM kombu_message WHERE rank IS NOT NULL") == 1
    queues.query("INSERT INTO kombu_message (queue_id, payload) SELECT 1, 'x' FROM generate_series(1, 10500)")
    found = facts(queues)
    assert abs(found.ready / 10_501 - 1) < NEAR
    assert found.estimated == ["ready"]
