"""Claims and polls read their own index, whatever the statistics say and whoever waits in front."""

import re
from pathlib import Path
from typing import Any

import pytest
from celery_durable.options import Options
from celery_durable.statements import statements
from durable_harness.broker import Broker
from durable_harness.database import Database
from durable_harness.plans import explain, nodes
from psycopg2.extensions import AsIs

pytestmark = pytest.mark.proof

FILL = """
    WITH made AS (
        INSERT INTO durable_message (queue_id, payload, task_id)
        SELECT queue.id, repeat('x', 300), gen_random_uuid()
          FROM durable_queue AS queue, generate_series(1, %s) AS n WHERE name = %s RETURNING id, queue_id)
    """
READY = FILL + "INSERT INTO durable_ready SELECT id, queue_id, '', row_number() OVER () FROM made"
DELAYED = FILL + "INSERT INTO durable_waiting SELECT id, queue_id, '', 'eta', now() + interval '1 h' FROM made"
TABLES = ("durable_message", "durable_ready", "durable_lease", "durable_waiting")
SQL = statements(Options(listen=False))
README = (Path(__file__).parents[1] / "README.md").read_text()


@pytest.fixture(params=["without statistics", "with statistics", "with statistics of an empty table"])
def crowded(database: Database, broker: Broker, request: pytest.FixtureRequest) -> Broker:
    """Thousands of delayed messages before the ready ones, and another queue full of ready ones."""
    database.make()  # without statistics of what other tests had in it
    for table in TABLES:
        broker.query(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main'), ('other'), ('empty')")
    if "empty" in request.param:
        broker.query(f"VACUUM ANALYZE {', '.join(TABLES)}")
    for fill, number, queue in ((DELAYED, 10_000, "main"), (READY, 2_500, "main"), (READY, 10_000, "other")):
        broker.query(fill, number, queue)
    if request.param == "with statistics":
        broker.query(f"VACUUM ANALYZE {', '.join(TABLES)}")
    return broker


def of_messages(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [node for node in found if node.get("Relation Name") in TABLES and node["Node Type"] != "ModifyTable"]


def test_a_claim_reads_the_index_of_ready_messages_only(crowded: Broker) -> None:
    given = {"queue": "main", "count": 32, "owner": 1, "lease": 15, "floor": 0, "sleep": 0}
    found = explain(crowded, SQL.claim, given, times=10)
    assert {node.get("Index Name", node["Node Type"]) for node in of_messages(found)} == {
        "durable_ready_order", "durable_ready_prioritized", "Tid Scan", "durable_message_pkey",
    }  # fmt: skip
    assert "Sort" not in {node["Node Type"] for node in found}
    assert sum(node.get("Rows Removed by Filter", 0) for node in found) == 0
    assert max(node["Actual Rows"] for node in of_messages(found)) == 32


@pytest.mark.parametrize("most", [1, 32])
def test_a_claim_and_a_settlement_are_not_planned_for_what_they_are_given(crowded: Broker, most: int) -> None:
    """Their conditions name parameters and no values; the planner would have it otherwise for a batch of one."""
    given = {"queue": "main", "count": most, "owner": 1, "lease": 15, "floor": 0, "sleep": 0, "careful": False}
    nothing = {"others": [], "tokens": [], "hows": []}
    done = {"done": list(range(most)), "done_tokens": ["00000000-0000-0000-0000-000000000000"] * most}
    found = explain(crowded, SQL.settle_and_claim, given | done | nothing, times=10)
    conditions = [node["Index Cond"] for node in of_messages(found) if "Index Cond" in node]
    assert len(conditions) >= 5
    assert [said for said in conditions if re.search(r"'|= \d|>= \d", said)] == []


def test_a_publish_reads_the_ends_of_two_indexes(crowded: Broker) -> None:
    def given(user: Any, delay: float | None = None) -> tuple[Any, ...]:
        return ("main", "{}", None, user, None, delay, 100, None, None, 0)

    assert of_messages(explain(crowded, SQL.publish, given("ann", 60), 10)) == []
    last, head = "durable_ready_tenant", "durable_ready_order"
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


#: Each reads the ready messages of one tenant.
OF_A_TENANT = {
    "its last rank": "SELECT durable_rank(1, 'ann', 100)",
    "their number": "SELECT * FROM durable_groups('main', 'ann', 20)",
    "whether there are fifty": "SELECT durable_publish('main', '{}', NULL, 'ann', NULL, NULL, 100, NULL, 50)",
    "the place of a message that is due": "SELECT durable_promote(1, '-infinity', now(), true, 20)",
}


@pytest.mark.parametrize("statement", OF_A_TENANT.values(), ids=OF_A_TENANT)
def test_a_tenant_reads_its_own_though_the_plan_was_made_for_few_of_two(
    database: Database, broker: Broker, statement: str
) -> None:
    """Where the statistics say that a table with pages is empty, the planner takes all indexes for equally cheap."""
    database.make()
    for table in TABLES:
        broker.query(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main')")
    of_two = READY.replace("''", "'user' || id %% 2")
    broker.query(of_two, 100, "main")
    broker.query("ANALYZE durable_ready")
    broker.query("DELETE FROM durable_ready")
    broker.query("ANALYZE durable_ready")
    broker.query(of_two, 100, "main")

    def grow() -> None:
        broker.query(of_two, 20_000, "main")
        broker.query("INSERT INTO durable_message (id, queue_id, payload, tenant) VALUES (0, 1, '{}', 'ann')")
        broker.query("INSERT INTO durable_waiting VALUES (0, 1, 'ann', 'eta', now() - interval '1 h')")

    found = [
        node for node in of_messages(explain(broker, statement, {}, 10, grow))
        if node["Relation Name"] == "durable_ready" and node["Actual Loops"]
    ]  # fmt: skip
    assert "durable_ready_tenant" in {node["Index Name"] for node in found}
    assert sum(node.get("Rows Removed by Filter", 0) for node in found) == 0


#: Each finds messages by their ids.  A lease and a message have no other index with an id in it.
_LEASED = "FROM durable_lease JOIN durable_message USING (id) WHERE durable_lease.queue_id = 1 ORDER BY id DESC LIMIT 1"
_READY = "(SELECT task_id FROM durable_message WHERE id = (SELECT max(id) FROM durable_ready WHERE queue_id = 1))"
_WOKEN = "ROW(1, 3, 1, '', now(), (SELECT array_agg(id) FROM durable_ready WHERE queue_id = 3), now(), 0)::durable_line"
BY_IDS = {
    "a claim": "SELECT * FROM durable_claim('main', 8, NULL, 15, 0, 0)",
    "a claim by priorities": "SELECT * FROM durable_take_turns(1, 5, NULL, 15, 0)",
    "a claim under a limit": "SELECT * FROM durable_claim('slow', 8, NULL, 15, 0, 0)",
    "what is put into a line": "SELECT durable_line_fill(3, 1, '', 0)",
    "what was woken for a limit": f"SELECT durable_line_woken({_WOKEN}, true)",
    "what of that is ready": f"SELECT durable_line_woken({_WOKEN}, false)",
    "a park": "SELECT broker_park('main', 'ann', 60)",
    "a park of a task": f"SELECT broker_park('main', 'ann', 60, {_READY})",
    "a wake": "SELECT broker_wake('main', 'bob', 3)",
    "what is due": "SELECT durable_promote(1, '-infinity', now(), false, 8)",
    "a poll": "SELECT * FROM durable_poll(ARRAY['main', 'slow'], 1, true, NULL, 5)",
    "a move": "SELECT broker_move('ann', 'main', 'other')",
    "a move of a task": f"SELECT broker_regroup({_READY}, 'bob', 'other', 100, 5, 60)",
    "a cancellation": f"SELECT broker_request_cancel({_READY})",
    "a deletion": f"SELECT broker_delete({_READY})",
    "a hold": f"SELECT broker_hold({_READY})",
    "a start": f"SELECT broker_start(task_id, token) {_LEASED}",
    "a delivery": f"SELECT broker_delivery(task_id, token) {_LEASED}",
    "a finish": f"SELECT broker_finish(task_id, token) {_LEASED}",
    "a retry": f"SELECT durable_retry(task_id, token, 'main', '{{}}', 5, false, false, NULL, NULL) {_LEASED}",
    "where it stands": f"SELECT durable_lease_token(0), m.* FROM broker_message AS m WHERE task_id = {_READY}",
}


def test_a_message_is_not_looked_up_in_all_of_an_index(database: Database, broker: Broker) -> None:
    """Beside an old transaction a vacuum says that a table with pages is empty, and each index is equally cheap."""
    database.make()
    for table in TABLES:
        broker.query(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main'), ('other'), ('slow')")
    broker.query("SELECT broker_limit('slow', '10/s')")
    old = broker.connect()
    with old.cursor() as cursor:
        cursor.execute("CREATE TABLE held (); SELECT pg_current_xact_id()")
    ready, due = (fill.replace("''", "'ann'").replace("+ interval", "- interval") for fill in (READY, DELAYED))
    broker.query(ready, 3_000, "main")
    broker.query("SELECT count(*) FROM durable_claim('main', 3000, NULL, 15, 0, 0)")
    for fill in (ready, due):
        broker.query(fill, 3_000, "main")
    for table in TABLES:
        broker.query(f"DELETE FROM {table}")
    broker.query(f"VACUUM ANALYZE {', '.join(TABLES)}")
    assert broker.query("SELECT reltuples FROM pg_class WHERE relname = ANY (%s)", list(TABLES)) == [(0,)] * 4
    for fill, queue in ((ready, "main"), (due, "main"), (ready, "slow")):
        broker.query(fill, 20, queue)
    broker.query("SELECT count(*) FROM durable_claim('main', 5, NULL, 900, 0, 0)")
    broker.query(due.replace("'ann', 'eta', now() - interval '1 h'", "'bob', 'parked', NULL"), 20, "main")
    broker.query("INSERT INTO kombu_group (queue_id, name, probe_at, probe_seconds) VALUES (1, 'bob', now(), 30)")
    whole = {name: looked_through(explain(broker, statement, {})) for name, statement in BY_IDS.items()}
    old.rollback()
    old.close()
    assert {name: indexes for name, indexes in whole.items() if indexes} == {}


def looked_through(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The indexes, with what was looked for, that do not begin with the id of it."""
    read = [node for node in of_messages(found) if "Index Name" in node]
    assert read
    said = [(node["Index Name"], node.get("Index Cond", "") + node.get("Filter", "")) for node in read]
    return [(index, what) for index, what in said if not index.endswith("_pkey") and re.search(r"\bid = ", what)]


def test_a_fence_reads_an_index_though_its_plan_was_made_for_one_page(database: Database, broker: Broker) -> None:
    """The function that reads the token keeps its plan for a session; after a quiet minute its table is one page."""
    database.make()
    broker.query("ALTER TABLE durable_lease SET (autovacuum_enabled = off)")
    broker.query("INSERT INTO durable_queue (name) VALUES ('main')")
    broker.query("SELECT durable_publish('main', '{}', 'one', NULL, NULL, NULL, 100, 'main')")
    token = broker.value("SELECT token FROM durable_claim('main', 1, NULL, 900, 0, 0)")
    broker.query("VACUUM ANALYZE durable_lease")
    read = "SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'durable_lease'"
    with broker.connect() as connection, connection.cursor() as cursor:
        for _ in range(10):
            cursor.execute("SELECT durable_lease_token(id) FROM durable_message")
            assert cursor.fetchall() == [(token,)]
        cursor.execute(read)
        assert cursor.fetchall() == [(0,)]
    connection.close()


def plan(broker: Broker, statement: str) -> list[dict[str, Any]]:
    return nodes(broker.value(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")[0]["Plan"])


@pytest.mark.parametrize("view", ["broker_message", "kombu_message"])
def test_where_one_message_stands_is_read_for_that_one(crowded: Broker, view: str) -> None:
    is_ready = "is_ready" if view == "broker_message" else "visible"
    task = crowded.value("SELECT task_id FROM durable_message JOIN durable_ready USING (id) LIMIT 1")
    found = of_messages(plan(crowded, f"SELECT {is_ready} FROM {view} WHERE task_id = '{task}'"))
    assert [node["Relation Name"] for node in found] == ["durable_message", "durable_ready"]
    assert max(node["Actual Rows"] for node in found) == 1


def test_a_purge_looks_no_row_up_by_its_id(crowded: Broker) -> None:
    deletes = [node for node in explain(crowded, SQL.purge, {"queue": "main"}) if node["Node Type"] == "ModifyTable"]
    assert sum(node["Plans"][0]["Actual Rows"] for node in deletes) == 2 * 12_500
    assert {node["Plans"][0]["Node Type"] for node in deletes} <= {"Tid Scan", "Seq Scan"}


def test_the_list_of_what_waits_begins_with_what_waits(crowded: Broker) -> None:
    [statement] = re.findall(r"`(SELECT m\.task_id, w\.reason[^`]+)`", README)
    found = plan(crowded, f"{statement} LIMIT 10")
    assert {node.get("Relation Name") for node in of_messages(found)} == {"durable_waiting", "durable_message"}
    assert not any(node.get("Subplan Name") for node in found)
    assert len(crowded.query(statement)) == 10_000
