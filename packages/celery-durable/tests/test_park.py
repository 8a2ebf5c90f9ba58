"""Parked groups: nothing of them is claimed until it is woken, and nothing is forgotten."""

from typing import Any

import pytest
from celery_durable.park import park, wake
from celery_durable.publish import producer_in
from celery_durable.template import send_many
from durable_harness.broker import PREFIX, Broker
from durable_harness.plans import pages
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for

STATES = "SELECT task_id, delay_reason FROM kombu_message ORDER BY id"


@pytest.fixture
def ann(broker: Broker) -> list[str]:
    """Three messages of ann, one of bob."""
    ids = [broker.send("nothing", headers={"tenant": "ann"}, task_id=f"ann{n}") for n in range(3)]
    return [*ids, broker.send("nothing", headers={"tenant": "bob"}, task_id="bob")]


def committed(broker: Broker, act: Any, *arguments: Any, **options: Any) -> Any:
    with broker.connect() as connection:
        return act(connection, "main", *arguments, **options)


def ids(messages: list[Any]) -> list[str]:
    return [message.headers["id"] for message in messages]


def test_a_parked_group_is_not_claimed_and_others_are(broker: Broker, ann: list[str]) -> None:
    assert committed(broker, park, "ann") == 3
    taker = Taker(broker.kombu(), ("main",), 10)
    assert ids(taker.take(1)) == ["bob"]
    broker.send("nothing", headers={"tenant": "ann"}, task_id="ann3")
    with broker.connect() as connection:
        send_many(connection, broker.app, f"{PREFIX}.nothing", [((), {})], queue="main", headers={"tenant": "ann"})
    taker.look(0.2)
    assert taker.got == []
    assert broker.value("SELECT count(*) FROM kombu_message WHERE delay_reason = 'parked'") == 5


def test_what_is_to_be_cancelled_stays_ready(broker: Broker, ann: list[str]) -> None:
    broker.query("SELECT broker_request_cancel('ann1')")
    assert committed(broker, park, "ann") == 2
    assert ids(Taker(broker.kombu(), ("main",), 10).take(2)) == ["bob", "ann1"]


def test_waking_gives_the_oldest_and_the_group_is_free_after_its_last(broker: Broker, ann: list[str]) -> None:
    committed(broker, park, "ann")
    taker = Taker(broker.kombu(), ("main",), 10)
    taker.take(1)
    assert committed(broker, wake, "ann") == ["ann0"]
    assert ids(taker.take(1)) == ["ann0"]
    assert committed(broker, wake, "ann", most=5) == ["ann1", "ann2"]
    assert ids(taker.take(2)) == ["ann1", "ann2"]
    assert broker.query("SELECT * FROM kombu_group") == []
    broker.send("nothing", headers={"tenant": "ann"}, task_id="ann3")
    assert ids(taker.take(1)) == ["ann3"]
    assert committed(broker, wake, "ann") == []


def test_messages_without_a_group_are_parked_and_woken_like_one(broker: Broker) -> None:
    for number in range(2):
        broker.send("nothing", task_id=str(number))
    assert committed(broker, park, "") == 2
    assert [committed(broker, wake, "") for _ in range(3)] == [["0"], ["1"], []]


def test_a_woken_message_is_next_whoever_waits(broker: Broker, ann: list[str]) -> None:
    committed(broker, park, "ann")
    with broker.connect() as connection:
        send_many(connection, broker.app, f"{PREFIX}.nothing", [((), {})] * 50, queue="main", headers={"tenant": "bob"})
    taker = Taker(broker.kombu(), ("main",), 1)
    taker.take(1)[0].ack()
    committed(broker, wake, "ann")
    got = [taker.take(1)[0] for _ in range(1)]
    for _ in range(2):
        got[-1].ack()
        got += taker.take(1)
    assert "ann0" in ids(got)


@pytest.mark.proof
def test_a_running_task_parks_itself_with_its_group(broker: Broker) -> None:
    # before there is a worker: what is published while a group is parked may not see it, and stays ready
    for number in range(3):
        broker.send("parked", headers={"tenant": "ann"}, task_id=f"ann{number}")
    worker = broker.worker("-c", "1", BROKER_TEST_MULTIPLIER="1")
    wait_for(lambda: broker.value("SELECT count(*) FROM kombu_message WHERE delay_reason = 'parked'") == 3)
    assert broker.query("SELECT task_id, snooze_count FROM kombu_message ORDER BY id") == [
        ("ann0", 1), ("ann1", 0), ("ann2", 0),
    ]  # fmt: skip
    for _ in range(3):
        committed(broker, wake, "ann")
    wait_for(lambda: broker.left() == 0)
    ends = broker.query("SELECT task_id, retry_count FROM runs WHERE what = 'end' ORDER BY id")
    assert sorted(ends) == [("ann0", 0), ("ann1", 0), ("ann2", 0)]
    assert worker.stop() == 0


@pytest.mark.proof
def test_a_parked_group_that_nobody_wakes_is_tried_after_its_time(broker: Broker, ann: list[str]) -> None:
    committed(broker, park, "ann", seconds=0.2)
    broker.query("UPDATE kombu_group SET probe_at = 'infinity'")
    taker = Taker(broker.kombu(poll_seconds=0.1), ("main",), 10)
    assert ids(taker.take(1)) == ["bob"]
    broker.query("UPDATE kombu_group SET probe_at = clock_timestamp()")
    assert ids(taker.take(3)) == ["ann0", "ann1", "ann2"]
    assert broker.query("SELECT * FROM kombu_group") == []


def test_a_publish_under_way_keeps_the_group_parked(broker: Broker, ann: list[str]) -> None:
    committed(broker, park, "ann")
    publisher = broker.connect()
    broker.app.send_task(f"{PREFIX}.nothing", task_id="ann3", queue="main", producer=producer_in(publisher),
                         headers={"tenant": "ann"})  # fmt: skip
    assert committed(broker, wake, "ann", most=9) == ["ann0", "ann1", "ann2"]
    assert broker.value("SELECT count(*) FROM kombu_group") == 1  # or ann3 would wait for nobody
    publisher.commit()
    publisher.close()
    assert committed(broker, wake, "ann") == ["ann3"]
    assert broker.value("SELECT count(*) FROM kombu_group") == 0


@pytest.mark.proof
def test_waking_does_not_read_what_waits(broker: Broker) -> None:
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main')")
    broker.query(
        "INSERT INTO kombu_message (queue_id, payload, visible, task_id, user_id, delay_reason)"
        " SELECT (SELECT id FROM kombu_queue WHERE name = 'main'), 'x', false, n, 'g' || n % 3, 'parked'"
        "   FROM generate_series(1, 30000) n"
    )
    with broker.connect() as connection:
        assert pages(connection, "SELECT durable_wake((SELECT id FROM kombu_queue), 'g1', 1)") < 150


def test_a_retry_whose_lease_has_gone_to_another_parks_nobody(broker: Broker, ann: list[str]) -> None:
    taker = Taker(broker.kombu(), ("main",), 1)
    (message,) = taker.take(1)
    zombie = {"lease_token": message.headers["lease_token"], "lease_task": message.headers["id"]}
    broker.query("UPDATE kombu_message SET lease_token = gen_random_uuid() WHERE lease_token IS NOT NULL")
    with broker.connect() as connection:
        broker.send(
            "work", task_id=message.headers["id"], producer=producer_in(connection), queue="main", retries=1,
            countdown=60, park=True, headers={**zombie, "tenant": "ann"},
        )  # fmt: skip
    connection.close()
    assert broker.query("SELECT name FROM kombu_group") == []
    assert broker.value("SELECT count(*) FROM kombu_message WHERE visible") == len(ann) - 1
