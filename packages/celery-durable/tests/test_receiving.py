"""What waits on another broker is received as it was sent: from Redis as its lists, from all others as kombu's consumer."""

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from celery import Celery
from celery_durable.errors import AlreadyReceived, OwnTables
from celery_durable.receiving import Store, Summary, receive
from celery_durable.receiving.kombu_source import KombuSource
from celery_durable.receiving.redis_source import SUFFIX, RedisSource
from durable_harness.broker import Broker
from durable_harness.other_brokers import REDIS, RedisServer
from durable_harness.waiting import wait_for
from kombu import Connection, Exchange, Queue, pools

#: How long `receive` waits here for more.
WAIT = 0.3
_databases = count()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    if REDIS is None:
        pytest.skip("redis-server is not installed (apt-get install redis-server)")
    with closing(RedisServer()) as server:
        yield server


class Old:
    """Another broker with an app that publishes to it."""

    def __init__(self, url: str, **options: Any) -> None:
        self.url, self.options = url, options
        self.app = Celery(set_as_current=False, broker=url)
        self.app.conf.update(task_ignore_result=True, task_default_queue="main", broker_transport_options=options)
        self.app.conf.accept_content = ["json", "pickle"]

    def connection(self) -> Connection:
        return Connection(self.url, transport_options=self.options)

    def send(self, task_id: str, *args: Any, **options: Any) -> None:
        self.app.send_task("shop.work", args, task_id=task_id, **options)


@pytest.fixture(params=["memory", "filesystem", "redis", "redis, prefixed"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Old]:
    """An empty one; a database of Redis each."""
    folders = {
        "data_folder_in": str(tmp_path),
        "data_folder_out": str(tmp_path),
        "control_folder": str(tmp_path / "control"),
    }
    if request.param.startswith("redis"):
        server = request.getfixturevalue("redis_server")
        prefix = {"global_keyprefix": "shop:"} if "prefixed" in request.param else {}
        made = Old(server.url(next(_databases) % 16), **prefix)
        with made.connection() as connection:
            connection.channel().client.flushdb()
    else:
        made = Old(f"{request.param}://", **(folders if request.param == "filesystem" else {}))
    yield made
    made.app.close()
    pools.reset()


@pytest.fixture
def redis_old(redis_server: RedisServer) -> Iterator[Old]:
    made = Old(redis_server.url(next(_databases) % 16), visibility_timeout=3600)
    with made.connection() as connection:
        connection.channel().client.flushdb()
    yield made
    made.app.close()
    pools.reset()


def received(broker: Broker, old: Old, *queues: str, unacked: bool = False, most: int = 500) -> Summary:
    with old.connection() as connection, closing(broker.connect()) as new:
        names = queues or ("main", "slow")
        if old.url.startswith("redis"):
            source: Any = RedisSource(connection, names, most, unacked=unacked)
        else:
            source = KombuSource(connection, names, most)
        return receive(source, Store(new), wait_seconds=WAIT)


def lists(old: Old) -> dict[str, int]:
    """Keys of Redis that hold messages, and how many."""
    with old.connection() as connection:
        client = connection.channel().client
        keys = [key.decode() for key in client.scan_iter() if b"_kombu" not in key]
        sizes = {"list": client.llen, "hash": client.hlen, "zset": client.zcard}
        return {key: sizes[client.type(key).decode()](key) for key in keys}


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


def test_priorities_of_redis_come_in_their_order(broker: Broker, redis_old: Old) -> None:
    for task_id, priority in (("low", 9), ("high", 0), ("middle", 5)):
        redis_old.send(task_id, priority=priority)
    received(broker, redis_old)
    found = broker.query("SELECT task_id, priority FROM broker_message ORDER BY rank, id")
    assert found == [("high", 9), ("middle", 4), ("low", 0)]
    assert lists(redis_old) == {}


def test_where_nobody_uses_priorities_all_have_the_lowest(broker: Broker, redis_old: Old) -> None:
    redis_old.send("one")
    received(broker, redis_old)
    assert broker.query("SELECT task_id, priority FROM broker_message") == [("one", 0)]


@pytest.mark.parametrize("old", ["memory"], indirect=True)
def test_priorities_of_the_others_stay_as_they_are(broker: Broker, old: Old) -> None:
    for task_id, priority in (("low", None), ("high", 9), ("over", 200)):
        old.send(task_id, priority=priority)
    received(broker, old)
    assert dict(broker.query("SELECT task_id, priority FROM broker_message")) == {"low": 0, "high": 9, "over": 9}


@pytest.mark.proof
def test_what_a_run_that_died_had_taken_comes_with_the_next(broker: Broker, redis_old: Old) -> None:
    for number in range(8):
        redis_old.send(str(number))
    with redis_old.connection() as connection, closing(broker.connect()) as new:
        died_before_its_commit = RedisSource(connection, ["main"], 3)
        assert len(died_before_its_commit.take()) == 3
        died_before_it_settled = RedisSource(connection, ["main"], 2)
        assert [len(died_before_it_settled.take()) for _ in range(2)] == [2, 1]  # of the first one
        batch = died_before_it_settled.take()
        Store(new).put([(one.queue, one.message) for one in batch])
    assert lists(redis_old) == {"main": 3, f"main{SUFFIX}": 5}
    assert received(broker, redis_old).queues == {"main": 8}
    assert broker.query("SELECT task_id FROM broker_message ORDER BY 1") == [(str(number),) for number in range(8)]
    assert lists(redis_old) == {}


def waiting_ids(old: Old) -> list[str]:
    """The task ids on the list of Redis, the next one first."""
    with old.connection() as connection:
        items = connection.channel().client.lrange("main", 0, -1)
    return [json.loads(item)["headers"]["id"] for item in reversed(items)]


def test_refused_messages_go_back_to_redis_once_and_in_their_order(redis_old: Old) -> None:
    for number in range(4):
        redis_old.send(str(number))
    with redis_old.connection() as connection:
        one, other = RedisSource(connection, ["main"]), RedisSource(connection, ["main"])
        batch, same = one.take(), other.take()  # the second run begins with what the first one has left
        one.settle(batch[3:])
        for source, taken in ((one, batch[:3]), (other, same)):
            source.give_back(taken)
    assert waiting_ids(redis_old) == ["0", "1", "2"]
    assert lists(redis_old) == {"main": 3}


def reserve(old: Old, *queues: str) -> None:
    """What a worker does that is killed: it gives nothing back."""
    with old.connection() as doomed:
        channel = doomed.channel()
        for queue in queues:
            assert channel.basic_get(queue) is not None
        channel.qos._delivered.clear()


def bind(old: Old, exchange: str, kind: str, key: str, *queues: str) -> None:
    """Bind queues to an exchange, as a worker of the old broker does."""
    with old.connection() as connection:
        for queue in queues:
            Queue(queue, Exchange(exchange, type=kind), routing_key=key)(connection.channel()).declare()


@pytest.mark.proof
def test_reserved_messages_are_found_by_the_bindings_of_topics(broker: Broker, redis_old: Old) -> None:
    bind(redis_old, "tasks", "topic", "task.#", "main")
    with redis_old.connection() as connection:
        Exchange("tasks", type="topic")(connection.channel()).declare()
        for task_id, key in (("import", "task.import"), ("none", "other")):
            redis_old.send(task_id, exchange="tasks", routing_key=key, connection=connection, countdown=3600)
    reserve(redis_old, "main")
    entry = '[{}, "gone", "key"]'
    with redis_old.connection() as connection:
        connection.channel().client.hset("unacked", "lonely", entry)
    for number in (1, 0):
        summary = received(broker, redis_old, "main", unacked=True)
        assert summary.queues == ({"main": 1} if number else {})
        assert summary.refused == [("key", None, "no queue is bound to it at the exchange 'gone'")]
    assert broker.query("SELECT task_id, delay_reason FROM broker_message") == [("import", "eta")]


@pytest.mark.proof
def test_a_reserved_message_of_two_queues_stays_until_both_have_it(broker: Broker, redis_old: Old) -> None:
    bind(redis_old, "both", "direct", "key", "main", "slow")
    redis_old.send("one", exchange="both", routing_key="key", headers={"unique_key": "bill 7"})
    reserve(redis_old, "main", "slow")
    [(_, _, why)] = received(broker, redis_old, "main", unacked=True).refused
    assert why == "it is for slow as well: receive all of its queues in one run"
    summary = received(broker, redis_old, unacked=True)
    assert len(summary.refused) == 1
    assert lists(redis_old)["unacked"] == 1
    broker.query("SELECT broker_request_cancel('one')")  # frees its key
    assert received(broker, redis_old, unacked=True).refused == []
    assert lists(redis_old) == {}
    assert broker.query("SELECT task_id FROM broker_message") == [("one",), ("one",)]


@pytest.mark.proof
def test_reserved_messages_of_redis_are_received_if_that_is_asked_for(broker: Broker, redis_old: Old) -> None:
    redis_old.send("reserved", countdown=3600)
    redis_old.send("other", queue="other")
    reserve(redis_old, "main", "other")
    redis_old.send("waiting")
    assert received(broker, redis_old, "main").queues == {"main": 1}
    assert received(broker, redis_old, "main", unacked=True).queues == {"main": 1}
    assert dict(broker.query("SELECT task_id, delay_reason FROM broker_message")) == {
        "reserved": "eta",
        "waiting": None,
    }
    assert lists(redis_old) == {"unacked": 1, "unacked_index": 1}


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


def test_what_is_no_message_stays_on_the_list(broker: Broker, redis_old: Old) -> None:
    redis_old.send("good")
    with redis_old.connection() as connection:
        connection.channel().client.lpush("main", "poison", json.dumps({"body": 1}))
    summary = received(broker, redis_old)
    assert (summary.queues, len(summary.refused)) == ({"main": 1}, 2)
    assert lists(redis_old) == {"main": 2}
