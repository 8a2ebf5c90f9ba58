"""What waits in Redis is received with what a run of before had taken from its lists, and goes back there in its order."""

import json
from contextlib import closing

import pytest
from celery_durable.receiving import Store
from celery_durable.receiving.redis_source import SUFFIX, RedisSource
from durable_harness.broker import Broker
from durable_harness.old_broker import Old, lists, received
from kombu import Exchange, Queue


def waiting_ids(old: Old) -> list[str]:
    """The task ids on the list of Redis, the next one first."""
    with old.connection() as connection:
        items = connection.channel().client.lrange("main", 0, -1)
    return [json.loads(item)["headers"]["id"] for item in reversed(items)]


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


def test_priorities_of_redis_come_in_their_order(broker: Broker, redis_old: Old) -> None:
    redis_old.send("before anybody used priorities")
    received(broker, redis_old)
    for task_id, priority in (("low", 9), ("high", 0), ("middle", 5)):
        redis_old.send(task_id, priority=priority)
    received(broker, redis_old)
    found = broker.query("SELECT task_id, priority FROM broker_message ORDER BY rank, id")
    assert found == [("before anybody used priorities", 0), ("high", 9), ("middle", 4), ("low", 0)]
    assert lists(redis_old) == {}


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


def test_what_is_no_message_stays_on_the_list(broker: Broker, redis_old: Old) -> None:
    redis_old.send("good")
    with redis_old.connection() as connection:
        connection.channel().client.lpush("main", "poison", json.dumps({"body": 1}))
    summary = received(broker, redis_old)
    assert (summary.queues, len(summary.refused)) == ({"main": 1}, 2)
    assert lists(redis_old) == {"main": 2}
