"""What waits on another broker is received as it was sent: from Redis as its lists, from all others as kombu's consumer."""

from contextlib import closing
from typing import Any

import psycopg2
import pytest
from celery_durable.errors import AlreadyReceived, OwnTables
from celery_durable.receiving import Store, receive
from celery_durable.receiving.kombu_source import KombuSource
from celery_durable.receiving.redis_source import SUFFIX, RedisSource
from durable_harness.broker import Broker
from durable_harness.old_broker import WAIT, Old, lists, received
from durable_harness.waiting import wait_for
from kombu import Connection, pools


@pytest.mark.proof
def test_messages_arrive_with_their_bodies_headers_delays_and_tenants(broker: Broker, old: Old) -> None:
    old.send("plain", 1, "ü", headers={"tenant": "ann", "mine": [1]})
    old.send("slow", queue="slow")
    old.send("packed", "x" * 1000, compression="zlib")
    old.send("pickled", {1, 2}, serializer="pickle")
    old.send("later", countdown=3600)
    old.send("past", eta=None, countdown=-5)
    assert received(broker, old).queues == {"main": 5, "slow": 1}
    rows = "SELECT q.name, task_id, group_name, delay_reason FROM broker_message AS m JOIN broker_queue AS q ON q.id = queue_id"
    assert set(broker.query(rows)) == {
        ("main", "plain", "ann", None), ("slow", "slow", None, None), ("main", "packed", None, None),
        ("main", "pickled", None, None), ("main", "later", None, "eta"), ("main", "past", None, None),
    }  # fmt: skip
    left = "SELECT extract(epoch FROM ready_at - clock_timestamp()) FROM broker_message WHERE task_id = 'later'"
    assert 3000 < broker.value(left) <= 3600
    channel = broker.kombu().channel()
    found = {}
    for _ in range(4):
        message = wait_for(lambda: channel.basic_get("main"))
        message.accept = {"application/json", "application/x-python-serialize"}
        found[message.headers["id"]] = (message.decode()[0], message.headers.get("mine"))
        message.ack()
    assert {name: list(args) for name, (args, _) in found.items()} == {
        "plain": [1, "ü"], "packed": ["x" * 1000], "pickled": [{1, 2}], "past": []
    }  # fmt: skip
    assert found["plain"][1] == [1]
    assert received(broker, old).queues == {}


@pytest.mark.proof
def test_what_was_first_is_first_and_batches_end(broker: Broker, old: Old) -> None:
    for number in range(25):
        old.send(f"{number:02}")
    assert received(broker, old, "main", most=10).queues == {"main": 25}
    order = "SELECT task_id FROM broker_message ORDER BY rank, id"
    found = [task_id for (task_id,) in broker.query(order)]
    if old.url.startswith("filesystem"):  # names its files by the millisecond
        found.sort()
    assert found == [f"{number:02}" for number in range(25)]


@pytest.mark.proof
def test_a_task_that_is_there_is_not_there_twice(broker: Broker, old: Old) -> None:
    broker.app.send_task("shop.work", task_id="one")
    broker.app.send_task("shop.work", task_id="two")
    channel = broker.kombu().channel()
    wait_for(lambda: channel.basic_get("main"))
    for task_id in ("one", "two", "three"):
        old.send(task_id, retries=1)
    assert received(broker, old).queues == {"main": 3}
    assert broker.query("SELECT task_id FROM broker_message ORDER BY 1") == [("one",), ("three",), ("two",)]


@pytest.mark.proof
def test_what_replaced_itself_at_the_source_takes_no_lease_away(broker: Broker, old: Old) -> None:
    marks = {"replaced_task_nesting": 1, "retries": 1, "headers": {"tenant": "ann"}}
    broker.app.send_task("shop.work", task_id="one", **marks)
    channel = broker.kombu().channel()
    running = wait_for(lambda: channel.basic_get("main"))
    for _ in range(2):
        old.send("one", **marks)
    assert received(broker, old).queues == {"main": 2}
    lease = "SELECT lease_token::text, retry_count FROM broker_message"
    assert broker.query(lease) == [(running.headers["lease_token"], 0)]
    running.ack()
    assert wait_for(lambda: broker.left() == 0)


@pytest.mark.proof
def test_what_cannot_be_stored_stays_and_the_others_come(broker: Broker, old: Old) -> None:
    broker.app.send_task("shop.work", task_id="holder", headers={"unique_key": "bill 7"})
    old.send("good")
    old.send("key", headers={"unique_key": "bill 7"})
    old.send("heavy", headers={"weight": "much"})
    for _ in range(2):
        refused = {task_id: why for _, task_id, why in received(broker, old).refused}
        assert set(refused) == {"key", "heavy"}
        assert "is held by task holder" in refused["key"]
        assert "'weight' must be a number" in refused["heavy"]
    assert broker.query("SELECT task_id FROM broker_message ORDER BY 1") == [("good",), ("holder",)]
    broker.query("DELETE FROM broker_message WHERE task_id = 'holder'")
    assert received(broker, old).queues == {"main": 1}


@pytest.mark.proof
def test_refused_messages_do_not_keep_those_behind_them_away(broker: Broker, old: Old) -> None:
    for number in range(5):
        old.send(f"bad {number}", queue="behind", headers={"weight": "much"})
    for number in range(7):
        old.send(f"good {number}", queue="behind")
    summary = received(broker, old, "behind", most=2)
    assert (summary.queues, len(summary.refused)) == ({"behind": 7}, 5)


@pytest.mark.parametrize("old", ["memory"], indirect=True)
def test_priorities_of_the_others_stay_as_they_are(broker: Broker, old: Old) -> None:
    for task_id, priority in (("low", None), ("high", 9), ("over", 200)):
        old.send(task_id, priority=priority)
    received(broker, old)
    assert dict(broker.query("SELECT task_id, priority FROM broker_message")) == {"low": 0, "high": 9, "over": 9}


@pytest.mark.proof
def test_one_run_at_a_time_receives_a_queue(broker: Broker, redis_old: Old) -> None:
    redis_old.send("one")
    with redis_old.connection() as connection, closing(broker.connect()) as new:
        with Store(new).receiving(RedisSource(connection, ["main"]).name, ["main"]):
            with pytest.raises(AlreadyReceived, match="another run receives queue 'main'"):
                received(broker, redis_old)
            assert lists(redis_old) == {"main": 1}
            assert received(broker, redis_old, "slow").queues == {}
        assert received(broker, redis_old).queues == {"main": 1}


def test_the_lock_of_a_run_tells_the_server_nothing_of_the_source(broker: Broker) -> None:
    heard: list[bytes] = []

    class Cursor(psycopg2.extensions.cursor):
        def execute(self, *given: Any) -> None:
            super().execute(*given)
            heard.append(self.query)

    with closing(broker.connect()) as new:
        new.cursor_factory = Cursor
        with Store(new).receiving("sqla postgresql://ann:SECRET@old/shop", ["main"]):
            pass
    assert len(heard) > 2
    assert b"SECRET" not in b"".join(heard)


def test_without_the_tables_nothing_leaves_its_queue(broker: Broker, redis_old: Old) -> None:
    redis_old.send("one")
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with pytest.raises(psycopg2.errors.UndefinedFunction):
        received(broker, redis_old)
    assert lists(redis_old) == {"main": 1}


def test_an_error_names_what_was_taken_and_is_not_stored(broker: Broker, redis_old: Old) -> None:
    for number in range(3):
        redis_old.send(str(number))
    with redis_old.connection() as connection, closing(broker.connect()) as new:
        source, take = RedisSource(connection, ["main"], 2), RedisSource.take

        def take_and_lose_the_session() -> list[Any]:
            batch = take(source)
            broker.query("SELECT pg_terminate_backend(%s)", [new.info.backend_pid])
            return batch

        source.take = take_and_lose_the_session  # type: ignore[method-assign]
        with pytest.raises(psycopg2.Error) as caught:
            receive(source, Store(new), wait_seconds=WAIT)
    assert caught.value.__notes__ == [
        f"2 messages are on main{SUFFIX} of the source, and the next run begins with them"
    ]
    assert received(broker, redis_old).queues == {"main": 3}


@pytest.mark.parametrize("wait_seconds", [0, -1])
def test_a_run_that_does_not_wait_receives_what_is_there(broker: Broker, redis_old: Old, wait_seconds: float) -> None:
    for number in range(3):
        redis_old.send(str(number))
    with redis_old.connection() as connection, closing(broker.connect()) as new:
        summary = receive(RedisSource(connection, ["main"], 2), Store(new), wait_seconds=wait_seconds)
    assert summary.queues == {"main": 3}


def test_the_tables_of_this_broker_are_no_source(broker: Broker) -> None:
    broker.app.send_task("shop.work", task_id="one")
    for host in ("127.0.0.1", "localhost"):
        url = "sqla+" + broker.url.replace("127.0.0.1", host).replace("postgresql:", "postgresql+psycopg2:")
        with Connection(url) as connection, closing(broker.connect()) as new, pytest.raises(OwnTables):
            receive(KombuSource(connection, ["main"]), Store(new), wait_seconds=0)
    assert broker.query("SELECT task_id, is_ready FROM broker_message") == [("one", True)]


@pytest.mark.proof
def test_tables_of_kombu_in_another_schema_are_a_source(broker: Broker) -> None:
    broker.query("CREATE SCHEMA old")
    broker.stack.callback(broker.query, "DROP SCHEMA old CASCADE")
    url = "sqla+" + broker.url.replace("postgresql:", "postgresql+psycopg2:") + "?options=-csearch_path%3Dold"
    old = Old(url)
    old.send("one")
    assert received(broker, old).queues == {"main": 1}
    assert broker.query("SELECT task_id, is_ready FROM broker_message") == [("one", True)]
    old.app.close()
    pools.reset()
