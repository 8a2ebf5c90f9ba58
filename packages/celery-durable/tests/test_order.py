"""The order inside a queue: fair between groups, by weight, first come first served inside of one."""

from collections.abc import Callable
from typing import Any

import pytest
from celery_durable.publish import producer_in
from celery_durable.template import send_many
from durable_harness.broker import PREFIX, Broker
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for

Order = Callable[..., str]


@pytest.fixture
def taker(broker: Broker) -> Callable[..., Taker]:
    return lambda prefetch=10, **options: Taker(broker.kombu(**options), ("main",), prefetch)


def fill(broker: Broker, group: str | None, number: int, weight: float | None = None) -> None:
    headers = {name: value for name, value in (("tenant", group), ("weight", weight)) if value is not None}
    with broker.connect() as connection:
        send_many(connection, broker.app, f"{PREFIX}.nothing", [((), {})] * number, queue="main", headers=headers)


def drain(taker: Taker, number: int) -> str:
    """The groups' first letters in the order of delivery, '-' for none."""
    order = []
    while len(order) < number:
        for message in taker.take(1):
            order.append((message.headers.get("tenant") or "-")[0])
            message.ack()
    return "".join(order)


@pytest.mark.proof
def test_a_group_of_thousands_delays_anothers_first_message_by_what_is_leased_only(
    broker: Broker, taker: Callable[..., Taker]
) -> None:
    fill(broker, "many", 10_000)
    one = taker(prefetch=1)
    assert drain(one, 3) == "mmm"
    broker.send("nothing", headers={"tenant": "few"})
    assert drain(one, 3) == "mfm"  # the first was leased before


def test_groups_take_turns_whoever_came_first(broker: Broker, taker: Callable[..., Taker]) -> None:
    for group in "abc":
        fill(broker, group, 4)
    assert drain(taker(), 12) == "abc" * 4


def test_a_group_without_a_backlog_is_not_served_before_one_that_waits_for_its_turn(
    broker: Broker, taker: Callable[..., Taker]
) -> None:
    fill(broker, "a", 6)
    one = taker(prefetch=1)
    order = drain(one, 1)
    for _ in range(4):  # b comes anew each time it was served
        broker.send("nothing", headers={"tenant": "b"})
        order += drain(one, 2)
    assert order.count("b") == 4
    assert order[1:].replace("ab", "").replace("ba", "") in ("", "a", "b")


def test_weights_share_a_queue(broker: Broker, taker: Callable[..., Taker]) -> None:
    fill(broker, "a", 60, weight=3)
    fill(broker, "b", 60, weight=1)
    assert drain(taker(), 40).count("a") in (29, 30, 31)


@pytest.mark.parametrize("weight", [0, -1, "heavy", True, float("nan")])
def test_a_weight_that_is_none_is_refused(broker: Broker, weight: Any) -> None:
    with pytest.raises(ValueError, match=r"'weight' must be a number from 0\.001 to 100"):
        broker.send("nothing", headers={"weight": weight})
    assert broker.left() == 0


def test_messages_without_a_group_are_one_group(broker: Broker, taker: Callable[..., Taker]) -> None:
    fill(broker, None, 5)
    fill(broker, "a", 5)
    assert drain(taker(), 10) == "-a" * 5


@pytest.mark.proof
def test_a_thousand_delayed_messages_that_become_due_at_once_take_their_turns(
    broker: Broker, taker: Callable[..., Taker]
) -> None:
    with broker.connect() as connection:
        send_many(connection, broker.app, f"{PREFIX}.nothing", [((), {})] * 600, queue="main",
                  countdown=60, headers={"tenant": "many"})  # fmt: skip
    fill(broker, "few", 5)
    broker.query("UPDATE kombu_message SET visible_at = clock_timestamp() WHERE delay_reason = 'eta'")
    one = taker(prefetch=1)
    wait_for(lambda: one.look(0.05) or broker.value("SELECT count(*) FROM kombu_message WHERE visible") > 500)
    assert drain(one, 10).count("f") == 5


def test_what_a_dead_worker_held_keeps_its_place(broker: Broker, taker: Callable[..., Taker]) -> None:
    fill(broker, "a", 3)
    fill(broker, "b", 3)
    first = taker(prefetch=2)
    taken = [message.headers["id"] for message in first.take(2)]
    first.connection.close()
    assert sorted(message.headers["id"] for message in taker(prefetch=2).take(2)) == sorted(taken)


def test_a_retry_without_a_countdown_takes_its_turn_again(broker: Broker, taker: Callable[..., Taker]) -> None:
    fill(broker, "a", 3)
    fill(broker, "b", 3)
    one = taker(prefetch=1)
    (message,) = one.take(1)
    headers = {**message.headers, "retries": 1, "eta": None}
    body, kind = message.body, message.content_type
    connection = broker.connect()
    producer = producer_in(connection)
    producer.publish(body, routing_key="main", headers=headers, content_type=kind, content_encoding="utf-8")
    connection.commit()
    message.ack()
    connection.close()
    assert drain(one, 6) == "babab" + "a"


@pytest.mark.proof
def test_a_message_that_was_committed_late_is_found(broker: Broker, taker: Callable[..., Taker]) -> None:
    late = broker.connect()
    fill(broker, "a", 1)
    producer = producer_in(late)
    broker.app.send_task(f"{PREFIX}.nothing", queue="main", producer=producer, headers={"tenant": "late"})
    fill(broker, "b", 300)
    one = taker(prefetch=1)
    assert "l" not in drain(one, 150)
    late.commit()
    late.close()

    def found() -> bool:
        """A whole look is a twentieth of the time, so it is far away where the last one met a busy machine."""
        fill(broker, "b", 20)
        return "l" in drain(one, 20)

    wait_for(found)
