"""The step to version 8, where each state of a message has a table: nothing is lost, and who runs goes on."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Event
from typing import Any

import psycopg2
import pytest
from celery_durable import schema
from durable_harness.broker import Broker
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for

BEFORE = 7
#: All that the wide table says of a message; of one that waits it has no rank any more.
WIDE = """
    SELECT id, queue_id, visible, payload, task_id, user_id, unique_key, visible_at, delay_reason, rank_step, lease_token,
           lease_owner, started_at, delivery_count, retry_count, snooze_count, lost_count, cancel_requested_at, enqueued_at,
           CASE WHEN delay_reason IS NULL THEN rank END FROM kombu_message ORDER BY id"""
#: Statements of workers and applications of the release before, which name the wide table.
RENEW = """
    WITH mine AS MATERIALIZED (
        SELECT id FROM kombu_message WHERE id = ANY (%(ids)s) AND lease_token = ANY (%(tokens)s::uuid[])),
    free AS MATERIALIZED (
        SELECT id FROM kombu_message WHERE id = ANY (%(ids)s) AND lease_token = ANY (%(tokens)s::uuid[])
           FOR NO KEY UPDATE SKIP LOCKED),
    kept AS (
        UPDATE kombu_message SET
               visible_at = clock_timestamp() + make_interval(secs => 900),
               started_at = CASE WHEN id = ANY (%(ids)s) THEN coalesce(started_at, clock_timestamp()) ELSE started_at END
         WHERE id IN (SELECT id FROM free) RETURNING id)
    SELECT id, id IN (SELECT id FROM kept) FROM mine"""
FENCE = "SELECT 1 FROM kombu_message WHERE task_id = %(task)s AND lease_token = %(token)s::uuid FOR UPDATE"
START = "UPDATE kombu_message SET started_at = clock_timestamp() WHERE task_id = %(task)s"
DELETE = "DELETE FROM kombu_message WHERE task_id = %(task)s AND lease_token = %(token)s::uuid"
REVOKE = """
    DELETE FROM kombu_message WHERE id IN (
        SELECT id FROM kombu_message
         WHERE task_id = ANY (%(tasks)s::text[]) AND lease_token IS NULL ORDER BY id FOR UPDATE SKIP LOCKED)
    RETURNING task_id"""
MANY = """
    INSERT INTO kombu_message (visible, visible_at, delay_reason, payload, queue_id, task_id, user_id, rank_step, rank)
    SELECT delay IS NULL, clock_timestamp() + make_interval(secs => coalesce(delay, 0)), CASE WHEN delay > 0 THEN 'eta' END,
           '{}', (SELECT id FROM kombu_queue), task, 'ann', 100, CASE WHEN delay IS NULL THEN 7 END
      FROM unnest(%(tasks)s::text[], %(delays)s::float8[]) AS given (task, delay)
    ON CONFLICT DO NOTHING RETURNING task_id"""
PUBLISH = "SELECT kombu_message_publish('main', '{}', %s, %s, NULL, %s, 100, 'main', %s)"
CLAIM = "SELECT message_id, token FROM kombu_message_claim('main', %s, NULL, 900, 0, 0) WHERE message_id IS NOT NULL"
SETTLE = "SELECT kombu_message_settle(%s, %s::uuid[], '{}', '{}', '{}', false)"


@pytest.fixture
def old(broker: Broker) -> Broker:
    """A database of the version before, with one queue."""
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    upgrade(broker, BEFORE)
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main')")
    return broker


def upgrade(broker: Broker, to: int = schema.VERSION) -> None:
    with closing(broker.connect()) as connection, connection:
        assert schema.upgrade(connection, to=to) == to


def publish(
    broker: Broker, task: str, *, tenant: str | None = None, delay: float | None = None, most: int | None = None
) -> None:
    assert broker.value(PUBLISH, task, tenant, delay, most)


def claim(broker: Broker, most: int) -> list[tuple[int, str]]:
    return [(int(found), str(token)) for found, token in broker.query(CLAIM, most)]


def in_each_state(broker: Broker) -> None:
    for number in range(4):
        publish(broker, f"leased{number}", tenant="ann")
    claim(broker, 4)
    broker.query(
        "UPDATE kombu_message SET lease_owner = 7, started_at = now(), retry_count = 2 WHERE task_id = 'leased1'"
    )
    broker.query(
        "UPDATE kombu_message SET visible_at = now() - interval '1 min', lost_count = 1 WHERE task_id = 'leased2'"
    )
    broker.query("UPDATE kombu_message SET cancel_requested_at = now(), unique_key = 'k' WHERE task_id = 'leased3'")
    for number in range(3):
        publish(broker, f"ready{number}", tenant="bob")
    publish(broker, "ready3")
    for reason in ("eta", "retry", "snooze"):
        publish(broker, reason, tenant="ann", delay=60)
        broker.query("UPDATE kombu_message SET delay_reason = %s, snooze_count = 1 WHERE task_id = %s", reason, reason)
    publish(broker, "fills", tenant="cid", most=1)
    publish(broker, "parked", tenant="cid", most=1)
    assert broker.value("SELECT delay_reason FROM kombu_message WHERE task_id = 'parked'") == "parked"


@pytest.mark.proof
def test_each_message_stands_where_it_stood(old: Broker) -> None:
    in_each_state(old)
    before = old.query(WIDE)
    upgrade(old)
    assert old.query(WIDE) == before
    assert dict(old.query("SELECT relname, n FROM (VALUES ('ready', (SELECT count(*) FROM durable_ready)),"
                          " ('lease', (SELECT count(*) FROM durable_lease)), ('waiting', (SELECT count(*) FROM durable_waiting)))"
                          " AS counted (relname, n)")) == {"ready": 5, "lease": 4, "waiting": 4}  # fmt: skip
    assert old.query("SELECT name FROM kombu_group") == [("cid",)]
    assert old.query("SELECT ready, leased, delayed, parked FROM broker_facts") == [(5, 4, 3, 1)]


def test_what_a_stock_producer_left_without_a_rank_is_taken_in(old: Broker) -> None:
    payload = '{"headers": {"id": "stock", "tenant": "ann"}, "body": ""}'
    old.query("INSERT INTO kombu_message (queue_id, payload) SELECT id, %s FROM kombu_queue", payload)
    old.query("INSERT INTO kombu_message (queue_id, payload) SELECT id, 'poison' FROM kombu_queue")
    upgrade(old)
    assert old.query("SELECT task_id, user_id, visible, rank > 0 FROM kombu_message ORDER BY id") == [
        ("stock", "ann", True, True), (None, None, True, True),
    ]  # fmt: skip


def outcomes(cursor: Any, tokens: list[str]) -> list[int]:
    """How many rows each statement finds on the first of the messages, under its own lease and under another one."""
    mine, another = {"task": "held0", "token": tokens[0]}, {"task": "held0", "token": tokens[1]}
    found = []
    for statement, given in ((FENCE, mine), (FENCE, another), (START, mine), (DELETE, another), (DELETE, mine)):
        cursor.execute(statement, given)
        found.append(cursor.rowcount)
    return found


def test_a_worker_of_before_goes_on(old: Broker) -> None:
    for number in range(3):
        publish(old, f"held{number}")
    held = claim(old, 3)
    ids, tokens = [found for found, _ in held], [token for _, token in held]
    for name in ("ready", "later"):
        publish(old, name, delay=60 if name == "later" else None)
    upgrade(old)
    with closing(old.connect()) as connection, connection, connection.cursor() as cursor:
        cursor.execute(RENEW, {"ids": ids, "tokens": tokens})
        assert cursor.fetchall() == [(found, True) for found in ids]
        cursor.execute(
            "SELECT count(*) FROM kombu_message WHERE visible_at > now() + interval '10 min' AND started_at > '-infinity'"
        )
        assert cursor.fetchall() == [(3,)]
        assert outcomes(cursor, tokens) == [1, 0, 1, 0, 1]
        cursor.execute(SETTLE, (ids[1:2], tokens[1:2]))
        cursor.execute(REVOKE, {"tasks": ["ready", "later", "held2"]})
        assert sorted(cursor.fetchall()) == [("later",), ("ready",)]
        cursor.execute(MANY, {"tasks": ["held2", "many0", "many1"], "delays": [None, None, 60]})
        assert cursor.fetchall() == [("many0",), ("many1",)]
        cursor.execute("SELECT task_id, visible, delay_reason, lease_token::text FROM kombu_message ORDER BY id")
        assert cursor.fetchall() == [
            ("held2", False, None, tokens[2]), ("many0", True, None, None), ("many1", False, "eta", None),
        ]  # fmt: skip


def test_a_node_of_this_release_takes_all_of_it(old: Broker) -> None:
    for number in range(3):
        old.query(
            "SELECT kombu_message_publish('main', %s, %s, NULL, NULL, NULL, 100, 'main')", BODY % number, f"t{number}"
        )
    claim(old, 1)
    old.query("UPDATE kombu_message SET visible_at = clock_timestamp() WHERE lease_token IS NOT NULL")
    upgrade(old)
    taken = Taker(old.kombu(poll_seconds=0.2), ("main",), 10)
    messages = taken.take(3)
    assert {message.headers["id"] for message in messages} == {"t0", "t1", "t2"}
    for message in messages:
        message.ack()
    wait_for(lambda: taken.look(0.1) or old.value("SELECT count(*) FROM durable_message") == 0)


BODY = '{"body": "e30=", "content-type": "application/json", "content-encoding": "utf-8", "headers": {"id": "t%s"}, "properties": {"body_encoding": "base64"}}'


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


def repeat(broker: Broker, over: Event, act: Callable[[Any, int], None]) -> int:
    """In a session of its own, each time a transaction; -> how often."""
    number = 0
    with closing(broker.connect()) as connection:
        connection.autocommit = True
        while not over.is_set():
            with connection.cursor() as cursor:
                act(cursor, number)
            number += 1
    return number


class Load:
    """Publishers and workers, as the release before has them."""

    def __init__(self) -> None:
        self.published, self.claimed = Counter[str](), Counter[int]()
        self.enough, self.all_sent, self.over = Event(), Event(), Event()

    def publishes(self, name: str) -> Callable[[Any, int], None]:
        def act(cursor: Any, number: int) -> None:
            cursor.execute(PUBLISH, (f"{name}{number}", name, None, None))
            self.published[name] += cursor.fetchone() != (None,)

        return act

    def works(self, cursor: Any, number: int) -> None:
        is_last = self.all_sent.is_set()
        cursor.execute(CLAIM, (5,))
        if not (rows := cursor.fetchall()):
            if is_last:
                self.over.set()
            return
        self.claimed.update(found for found, _ in rows)
        while True:
            with suppress(psycopg2.errors.LockNotAvailable):  # a node tries again, too, while the upgrade has the table
                cursor.execute(SETTLE, ([found for found, _ in rows], [token for _, token in rows]))
                return

    def passes(self, more: int) -> None:
        """Wait until so many more were claimed."""
        until = sum(self.claimed.values()) + more
        wait_for(lambda: sum(self.claimed.values()) > until)

    def end(self) -> None:
        self.enough.set()
        self.over.set()


def test_under_load_nothing_is_lost_and_nothing_comes_twice(old: Broker, threads: ThreadPoolExecutor) -> None:
    load = Load()
    try:
        names = ("ann", "bob", "cid")
        senders = [threads.submit(repeat, old, load.enough, load.publishes(name)) for name in names]
        workers = [threads.submit(repeat, old, load.over, load.works) for _ in range(3)]
        load.passes(200)
        upgrade(old)
        load.passes(200)
        load.enough.set()
        sent = sum(sender.result() for sender in senders)
        load.all_sent.set()
        for worker in workers:
            worker.result()
    finally:
        load.end()
    assert sum(load.published.values()) == sent == len(load.claimed)
    assert set(load.claimed.values()) == {1}
    assert old.query("SELECT count(*) FROM durable_message") == [(0,)]


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_transaction_that_would_miss_messages_is_refused(old: Broker, level: str) -> None:
    with closing(old.connect()) as connection:
        connection.set_session(isolation_level=level)
        with pytest.raises(psycopg2.Error, match="READ COMMITTED"):
            schema.upgrade(connection)
        connection.rollback()
    assert old.value("SELECT version FROM kombu_schema") == BEFORE


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_transaction_that_began_before_leaves_no_rank_without_its_message(old: Broker, level: str) -> None:
    publish(old, "one")
    with closing(old.connect()) as before, before.cursor() as cursor:
        before.set_session(isolation_level=level)
        cursor.execute("SELECT")
        upgrade(old)
        with pytest.raises(psycopg2.errors.SerializationFailure, match="where message"):
            cursor.execute("DELETE FROM broker_message WHERE task_id = 'one'")
    assert old.value("SELECT count(*) FROM durable_ready r JOIN durable_message m USING (id)") == 1


def test_a_lease_without_a_message_ends(old: Broker) -> None:
    upgrade(old)
    old.query("SELECT durable_publish('main', '{}', 'one', NULL, NULL, NULL, 100, 'main'); DELETE FROM durable_message")
    old.query("SELECT durable_claim('main', 1, NULL, 0, 0, 0)")
    assert old.value("SELECT leased FROM broker_facts") == 1
    old.query("SELECT durable_poll('{main}', 1, true, NULL)")
    assert old.value("SELECT leased FROM broker_facts") == 0


@pytest.mark.proof
def test_a_session_that_used_the_tables_the_other_way_round_is_no_victim(
    old: Broker, threads: ThreadPoolExecutor
) -> None:
    publish(old, "one")
    with closing(old.connect()) as other, other.cursor() as cursor:
        cursor.execute("SELECT FROM kombu_message")
        upgraded = threads.submit(upgrade, old)
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'kombu_message'::regclass"
        wait_for(lambda: upgraded.done() or old.value(waits))
        cursor.execute("SELECT FROM kombu_queue")  # which the upgrade has
        other.commit()
        upgraded.result()
    assert old.value("SELECT count(*) FROM durable_ready") == 1


def test_a_message_of_a_queue_that_is_not_there_is_kept_as_it_was(old: Broker) -> None:
    """Nobody reads it, until there is a queue of that id; a rank it gets only now."""
    old.query("INSERT INTO kombu_message (queue_id, payload) VALUES (99, '{}'), (99, 'poison')")
    old.query("INSERT INTO kombu_message (queue_id, payload, rank, visible_at) VALUES (99, '{}', 5, now())")
    before = old.query("SELECT id, queue_id, payload, visible, lease_token FROM kombu_message ORDER BY id")
    upgrade(old)
    assert old.query("SELECT id, queue_id, payload, visible, lease_token FROM kombu_message ORDER BY id") == before
    assert old.query("SELECT count(*), count(rank) FROM broker_message WHERE queue_id = 99") == [(3, 3)]
    old.query("INSERT INTO durable_queue (id, name) VALUES (99, 'back')")
    taken = "SELECT body FROM durable_claim('back', 9, NULL, 900, 0, 0) WHERE message_id IS NOT NULL"
    assert sorted(old.query(taken)) == [("poison",), ("{}",), ("{}",)]


def test_the_names_of_before_can_be_dropped_and_made_again(old: Broker) -> None:
    """By README's statement."""
    publish(old, "one")
    upgrade(old)
    old.query("DROP VIEW kombu_message, kombu_queue")
    assert len(old.query("SELECT * FROM durable_claim('main', 1, NULL, 900, 0, 0)")) == 1
    with closing(old.connect()) as connection, connection:
        schema.add_stock_names(connection)
    assert old.query("UPDATE kombu_message SET retry_count = 3 RETURNING task_id") == [("one",)]
    assert old.query("UPDATE kombu_message SET lease_token = NULL, visible = true RETURNING task_id") == [("one",)]
    assert old.query("SELECT is_ready, retry_count FROM broker_message") == [(True, 3)]
