"""The views and functions that applications use in statements of their own."""

import os
import re
import socket

import psycopg2
import pytest
from celery_durable import schema
from durable_harness.broker import Broker
from durable_harness.taker import Take

MESSAGES = """
    SELECT m.task_id, q.name, m.group_name, m.is_ready, m.delay_reason FROM broker_message m
      JOIN broker_queue q ON q.id = m.queue_id ORDER BY m.id"""
#: Statements of applications.
STATEMENTS = {
    "fence": "SELECT m.cancel_requested_at FROM broker_message m JOIN broker_queue q ON q.id = m.queue_id"
    " WHERE m.task_id = 'one' AND m.lease_token = gen_random_uuid() FOR UPDATE OF m",
    "hold": "SELECT FROM broker_message WHERE task_id = 'one' FOR KEY SHARE SKIP LOCKED",
    "start": "UPDATE broker_message SET started_at = clock_timestamp() WHERE task_id = 'one'",
    "delete": "DELETE FROM broker_message WHERE task_id = 'one'",
    "anti-join": "SELECT FROM runs r WHERE NOT EXISTS (SELECT FROM broker_message m WHERE m.task_id = r.task_id) FOR UPDATE OF r",
}


@pytest.fixture
def ann(broker: Broker, taker: Take) -> list[str]:
    """Of ann a leased message, two parked and one due in a minute; of bob one that is ready."""
    broker.send("nothing", headers={"tenant": "ann"}, task_id="leased")
    taker(prefetch=1).take(1)
    ids = [broker.send("nothing", headers={"tenant": "ann"}, task_id=f"parked{n}") for n in range(2)]
    broker.query("SELECT broker_park('main', 'ann', 30)")
    broker.send("nothing", headers={"tenant": "ann"}, task_id="due", countdown=60)
    return [*ids, broker.send("nothing", headers={"tenant": "bob"}, task_id="bob")]


def test_the_views_tell_the_state_of_each_message(broker: Broker, ann: list[str]) -> None:
    assert broker.query(MESSAGES) == [
        ("leased", "main", "ann", False, None),
        ("parked0", "main", "ann", False, "parked"),
        ("parked1", "main", "ann", False, "parked"),
        ("due", "main", "ann", False, "eta"),
        ("bob", "main", "bob", True, None),
    ]
    assert broker.query("SELECT g.name FROM broker_group g JOIN broker_queue q ON q.id = g.queue_id") == [("ann",)]
    assert broker.query("SELECT queue, ready, leased, delayed, parked FROM broker_facts") == [("main", 1, 1, 1, 2)]
    assert broker.query("SELECT name, ready, parked FROM broker_group_facts('main', 'ann', 1)") == [("ann", 0, 2)]


def test_a_node_tells_its_queues_and_what_it_holds(broker: Broker, taker: Take) -> None:
    node = taker("main", prefetch=3)
    sent = broker.send("nothing", task_id="held")
    node.take(1)
    [(name, queues, prefetch, is_alive, seen)] = broker.query(
        "SELECT name, queues, prefetch_count, is_alive, clock_timestamp() - seen_at < interval '1 min' FROM broker_node"
    )
    assert name == f"{socket.gethostname()}:{os.getpid()}"
    assert (queues, prefetch, is_alive, seen) == (["main"], 3, True, True)
    assert broker.query("SELECT m.task_id FROM broker_node n JOIN broker_message m ON m.node_id = n.id") == [(sent,)]


def test_a_node_tells_which_queues_it_reads_only_with_what_it_has_to_spare(broker: Broker, taker: Take) -> None:
    taker("main", "other", prefetch=3, spare_queues={"other": 2}).look()
    assert broker.query("SELECT queues, spare_queues FROM broker_node") == [(["main", "other"], {"other": 2})]


def test_a_node_whose_session_is_gone_is_not_alive(broker: Broker, taker: Take) -> None:
    taker("main").look()
    assert broker.query("SELECT is_alive FROM broker_node") == [(True,)]
    broker.query("INSERT INTO kombu_node (lock, name) VALUES (4611686018427387904 + 5, 'gone:1')")
    looking = "SELECT durable_judge(NULL, true, 0);"  # as another node does, which has the lock meanwhile
    assert broker.query(looking + "SELECT name, is_alive, seen_at FROM broker_node WHERE NOT is_alive") == [
        ("gone:1", False, None)
    ]


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement_over_the_view_of_messages_is_planned_as_one_over_their_table(
    broker: Broker, statement: str
) -> None:
    """It finds the message by its task and reads where it stands by its id; what it locks is that table."""
    lines = broker.query("SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS off) " + statement)
    text = "\n".join(line for (line,) in lines)
    found = set(re.findall(r"using (durable_\w+)", text))
    ways = {f"durable_{table}_pkey" for table in ("ready", "lease", "waiting", "queue")}
    assert "durable_message_task" in found <= {"durable_message_task", *ways}
    assert "Subquery Scan" not in text
    assert "Seq Scan on durable" not in text


def test_a_message_is_in_the_view_of_its_state(broker: Broker, ann: list[str]) -> None:
    found = {
        state: broker.query(f"SELECT m.task_id FROM broker_{state} s JOIN broker_message m USING (id) ORDER BY id")
        for state in ("ready", "lease", "waiting")
    }
    assert found == {"ready": [("bob",)], "lease": [("leased",)], "waiting": [("parked0",), ("parked1",), ("due",)]}
    assert broker.query("SELECT tenant, reason, due_at IS NULL FROM broker_waiting ORDER BY id") == [
        ("ann", "parked", True), ("ann", "parked", True), ("ann", "eta", False),
    ]  # fmt: skip


def test_of_a_message_nothing_but_its_start_is_changed_through_the_view(broker: Broker, ann: list[str]) -> None:
    with pytest.raises(psycopg2.errors.FeatureNotSupported, match="only started_at"):
        broker.query("UPDATE broker_message SET group_name = 'bob' WHERE task_id = 'leased'")
    changed = "UPDATE broker_message SET started_at = clock_timestamp() WHERE task_id = %s RETURNING task_id"
    assert broker.query(changed, "leased") == [("leased",)]
    assert broker.query(changed, "bob") == []  # nobody runs it


def test_a_start_under_a_lease_is_written_and_told(broker: Broker, ann: list[str]) -> None:
    started = "SELECT broker_start(%s, token) FROM broker_lease"
    assert broker.query(started, "bob") == [(False,)]
    assert broker.value("SELECT broker_start('leased', gen_random_uuid())") is False
    assert broker.value("SELECT started_at FROM broker_lease") is None
    assert broker.query(started, "leased") == [(True,)]
    assert broker.value("SELECT started_at <= clock_timestamp() FROM broker_lease") is True


def test_without_a_lease_nothing_is_fenced_started_or_deleted(broker: Broker, ann: list[str]) -> None:
    """A task that is called directly has none."""
    for task in ("leased", "bob"):
        assert broker.query("SELECT * FROM broker_fence(%s, NULL)", task) == []
        assert broker.value("SELECT broker_start(%s, NULL)", task) is False
        assert broker.value("SELECT broker_finish(%s, NULL)", task) is False
        assert broker.value("SELECT count(*) FROM broker_message WHERE task_id = %s", task) == 1


def test_a_message_that_is_held_is_not_claimed(broker: Broker, ann: list[str], taker: Take) -> None:
    broker.send("nothing", task_id="next")
    with broker.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT broker_hold('bob'), broker_hold('nobody')")
        assert cursor.fetchone() == (True, False)
        taken = taker()
        assert [message.headers["id"] for message in taken.take(1)] == ["next"]
        connection.rollback()
        broker.query("SELECT broker_resume('main')")
        assert [message.headers["id"] for message in taken.take(1)] == ["bob"]
    connection.close()


def test_to_lock_a_message_beside_its_queue_locks_no_queue(broker: Broker, ann: list[str]) -> None:
    with broker.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM broker_message m JOIN broker_queue q ON q.id = m.queue_id WHERE task_id = 'bob' FOR UPDATE OF m"
        )
        assert sorted(broker.query("SELECT task_id FROM kombu_message FOR UPDATE SKIP LOCKED")) == [
            ("due",), ("leased",), ("parked0",), ("parked1",),
        ]  # fmt: skip
        assert broker.query("SELECT name FROM kombu_queue FOR UPDATE SKIP LOCKED") == [("main",)]
    connection.close()


def test_the_oldest_of_a_parked_group_is_woken(broker: Broker, ann: list[str]) -> None:
    assert broker.query("SELECT broker_wake('main', 'ann', 1)") == [("parked0",)]
    assert broker.query("SELECT task_id FROM broker_message WHERE is_ready ORDER BY id") == [("parked0",), ("bob",)]


def test_what_waits_of_a_group_moves_and_what_is_leased_stays(broker: Broker, ann: list[str]) -> None:
    broker.query("INSERT INTO kombu_queue (name) VALUES ('fast')")
    broker.send("nothing", headers={"tenant": "ann", "weight": 2}, task_id="there", queue="fast")
    broker.query("SELECT broker_wake('main', 'ann', 1)")
    broker.query("SELECT broker_move('ann', 'main', 'fast')")
    assert broker.query("SELECT task_id, name FROM broker_message m JOIN broker_queue q ON q.id = queue_id"
                        " WHERE group_name = 'ann' ORDER BY rank, m.id") == [
        ("leased", "main"), ("there", "fast"), ("parked0", "fast"), ("parked1", "fast"), ("due", "fast"),
    ]  # fmt: skip
    assert broker.query("SELECT q.name FROM broker_group JOIN broker_queue q ON q.id = queue_id") == [("fast",)]


def test_a_group_does_not_move_to_a_queue_that_is_not_there(broker: Broker, ann: list[str]) -> None:
    before = broker.query(MESSAGES)
    with pytest.raises(psycopg2.errors.ForeignKeyViolation, match="there is no queue nowhere"):
        broker.query("SELECT broker_move('ann', 'main', 'nowhere')")
    assert broker.query(MESSAGES) == before
    assert broker.query("SELECT name FROM broker_group") == [("ann",)]


def test_a_forgotten_group_is_named_nowhere(broker: Broker, ann: list[str]) -> None:
    broker.query("DELETE FROM broker_message WHERE group_name = 'ann' AND lease_token IS NULL")
    broker.query(
        "INSERT INTO kombu_broadcast (exchange, routing_key, payload, expires_at) VALUES ('e', '', '\"ann\"', now())"
    )
    broker.query("SELECT broker_forget('ann')")
    assert [row[:3] for row in broker.query(MESSAGES)] == [("leased", "main", None), ("bob", "main", "bob")]
    assert broker.query("SELECT name FROM broker_group") == broker.query("SELECT FROM kombu_broadcast") == []


@pytest.mark.parametrize("task", ["leased", "due"])
def test_a_cancellation_frees_the_key_and_reaches_a_worker(broker: Broker, ann: list[str], task: str) -> None:
    broker.query("UPDATE kombu_message SET unique_key = 'key' WHERE task_id = %s", task)
    broker.query("SELECT broker_request_cancel(%s)", task)
    [found] = broker.query("SELECT cancel_requested_at IS NOT NULL, unique_key, is_ready, delay_reason, rank IS NULL"
                           " FROM broker_message WHERE task_id = %s", task)  # fmt: skip
    assert found == (True, None, task == "due", None, False)
    assert broker.query("SELECT task_id FROM broker_message WHERE cancel_requested_at IS NOT NULL") == [(task,)]


def test_a_queue_is_paused_since_the_first_time_until_it_is_resumed(broker: Broker, taker: Take) -> None:
    broker.send("nothing", task_id="one")
    broker.query("SELECT broker_pause('main', '2026-01-01Z')")
    broker.query("SELECT broker_pause('main')")
    assert broker.value("SELECT paused_at = '2026-01-01Z' FROM broker_queue")
    waiting = taker()
    waiting.look(0.2)
    assert waiting.got == []
    broker.query("SELECT broker_resume('main')")
    assert [message.headers["id"] for message in waiting.take(1)] == ["one"]


def test_dead_letters_are_read_put_back_and_dropped(broker: Broker) -> None:
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main')")
    broker.query("INSERT INTO kombu_dead_letter (queue, task_id, user_id, payload, reason) VALUES"
                 " ('main', 'one', 'ann', '{}', 'lost'), ('gone', 'two', 'bob', '{}', 'rejected')")  # fmt: skip
    ids = [row[0] for row in broker.query("SELECT id FROM broker_dead_letter ORDER BY id")]
    assert broker.query("SELECT * FROM broker_redrive(%s)", ids) == [(ids[0], "redriven"), (ids[1], "no queue")]
    assert broker.query("DELETE FROM broker_dead_letter RETURNING task_id, group_name") == [("two", "bob")]
    assert broker.query("SELECT task_id, group_name FROM broker_message") == [("one", "ann")]


def test_they_work_in_a_schema_that_is_named(broker: Broker) -> None:
    with broker.connect() as connection, connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE SCHEMA post")
        schema.upgrade(connection, {"schema": "post"})
        cursor.execute("INSERT INTO post.durable_queue (name) VALUES ('main'), ('fast')")
        cursor.execute("SELECT post.durable_publish('main', '{}', 'one', 'ann', NULL, NULL, 100, 'main')")
        cursor.execute("SELECT post.broker_park('main', 'ann', 30); SELECT post.broker_move('ann', 'main', 'fast')")
        cursor.execute("SELECT post.broker_wake('fast', 'ann', 1); SELECT post.broker_forget('ann')")
        cursor.execute("SELECT post.broker_request_cancel('one'); SELECT post.broker_pause('fast')")
        cursor.execute("SELECT post.broker_resume('fast'); SELECT post.broker_channel()")
        assert cursor.fetchone()[0] == "post_kombu_message"
        cursor.execute("SELECT m.is_ready, f.ready, g.name FROM post.broker_message m, post.broker_facts f,"
                       " post.broker_group_facts('fast', 'ann', 1) g WHERE f.queue = 'fast'")  # fmt: skip
        assert cursor.fetchall() == [(True, 1, "ann")]
    connection.close()
