"""Whatever brings a message back among the ready ones brings its priority along."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest
from celery_durable import schema
from durable_harness.broker import Broker
from durable_harness.turns import Turns
from durable_harness.waiting import wait_for

PRIORITIES = "SELECT task_id, priority FROM broker_message ORDER BY 1"
READY = "SELECT m.task_id, r.priority FROM broker_ready AS r JOIN durable_message AS m USING (id) ORDER BY 1"
WAITING = "SELECT m.task_id, w.priority FROM broker_waiting AS w JOIN durable_message AS m USING (id) ORDER BY 1"
RETRY = "SELECT durable_retry(%s, %s, 'main', '{}', %s, %s, %s, 30, 'main', %s)"
PROMOTE = "SELECT durable_promote(id, '-infinity', 'infinity', true, 100) FROM durable_queue WHERE name = 'main'"
PAYLOAD = '{{"body": "{{}}", "headers": {{"id": "{}", "priority": 8}}, "properties": {{"priority": {}}}}}'


@pytest.fixture
def turns(broker: Broker) -> Turns:
    made = Turns(broker)
    made.add_queue()
    made.add_queue("other")
    return made


def three(turns: Turns, **more: Any) -> None:
    for task, priority in (("low", None), ("high", 9), ("middle", 4)):
        turns.publish(task, priority, "ann", **more)


def test_what_is_due_comes_by_its_priority(turns: Turns) -> None:
    three(turns, delay=60)
    assert turns.run(WAITING) == [("high", 9), ("low", 0), ("middle", 4)]
    turns.run(PROMOTE)
    assert turns.tasks() == ["high", "middle", "low"]


def test_a_lease_that_is_lost_gives_the_message_back_with_its_turn(turns: Turns) -> None:
    three(turns)
    before = turns.turns()
    held = turns.claim(2)
    assert [one.task for one in held] == ["high", "middle"]
    turns.run("UPDATE durable_lease SET until = now() - interval '1 s'")
    turns.run(PROMOTE)
    assert turns.turns() == before
    assert turns.tasks() == ["high", "middle", "low"]


def test_of_one_priority_what_came_back_is_first_and_what_is_retried_is_last(turns: Turns) -> None:
    for task in ("one", "two", "three"):
        turns.publish(task, 5)
    [one, two] = turns.claim(2)
    turns.run(RETRY, (one.task, one.token, None, False, False, None))
    turns.give_back(two)
    assert turns.tasks() == ["two", "three", "one"]


@pytest.mark.parametrize(("given", "kept"), [(None, 4), (0, 0), (2, 2), (44, 9)])
@pytest.mark.parametrize(("delay", "snooze", "park"), [(None, False, False), (60, True, False), (None, True, True)])
def test_a_retry_keeps_the_priority_or_brings_its_own(
    turns: Turns, given: int | None, kept: int, delay: float | None, snooze: bool, park: bool
) -> None:
    turns.publish("one", 4, "ann")
    [one] = turns.claim()
    turns.run(RETRY, (one.task, one.token, delay, snooze, park, given))
    assert turns.run(PRIORITIES) == turns.run(WAITING if delay or park else READY) == [("one", kept)]


def test_a_group_wakes_its_highest_first_and_then_its_oldest(turns: Turns) -> None:
    three(turns)
    turns.publish("low too", None, "ann")
    turns.publish("snoozed", 4, "ann")
    turns.publish("other", None, "bob")
    [high] = turns.claim()
    turns.run(RETRY, (high.task, high.token, 60, True, False, None))
    assert turns.run("SELECT broker_park('main', 'ann', 30)") == [(4,)]
    turns.publish("late", 9, "ann")
    woken = [turns.run("SELECT broker_wake('main', 'ann', %s)", (most,)) for most in (1, 3, 9)]
    assert woken == [[("high",)], [("late",), ("middle",), ("snoozed",)], [("low",), ("low too",)]]
    assert turns.run("SELECT * FROM kombu_group") == []
    assert turns.tasks() == ["other", "high", "late", "middle", "snoozed", "low", "low too"]


def test_what_a_claim_in_its_middle_passed_is_parked_without_a_mark(turns: Turns) -> None:
    three(turns)
    turns.claim()  # low has a later turn now, and is found by the index of priorities
    turns.run("SELECT broker_park('main', 'ann', 30)")
    assert turns.run("SELECT priority FROM durable_waiting ORDER BY id") == [(None,), (4,)]
    assert turns.run("SELECT broker_wake('main', 'ann', 9)") == [("middle",), ("low",)]


def test_a_group_that_moves_is_in_its_own_order_there(turns: Turns) -> None:
    three(turns)
    turns.publish("low too", None, "ann")
    turns.publish("waits", 5, "ann", delay=60)
    assert [one.task for one in turns.claim()] == ["high"]
    turns.run("SELECT broker_move('ann', 'main', 'other')")
    assert turns.run("SELECT own_rank FROM durable_ready") == [(None,)] * 3
    assert turns.run(WAITING) == [("waits", 5)]
    assert turns.tasks(queue="other") == ["middle", "low", "low too"]


@pytest.mark.parametrize("most_ready", [None, 1])
def test_who_gets_another_group_keeps_its_priority(turns: Turns, most_ready: int | None) -> None:
    three(turns)
    turns.publish("his", None, "bob", queue="other")
    for task in ("low", "high", "middle"):
        turns.run("SELECT broker_regroup(%s, 'bob', 'other', %s, 100, 30)", (task, most_ready))
    assert turns.run(PRIORITIES) == [("high", 9), ("his", 0), ("low", 0), ("middle", 4)]
    if most_ready is None:
        assert turns.tasks(queue="other") == ["high", "middle", "his", "low"]
    else:
        assert turns.tasks(queue="other") == ["his"]
        assert turns.run("SELECT broker_wake('other', 'bob', 9)") == [("high",), ("middle",), ("low",)]


def test_what_is_to_be_cancelled_keeps_its_priority(turns: Turns) -> None:
    three(turns, delay=60)
    for task in ("low", "high", "middle"):
        turns.run("SELECT broker_request_cancel(%s)", (task,))
    assert turns.tasks() == ["high", "middle", "low"]


def test_a_dead_letter_goes_back_with_its_priority(broker: Broker) -> None:
    for number, priority in enumerate((0, 9)):
        broker.send("work", task_id=f"{number}", priority=priority)
    with broker.kombu().channel() as channel:
        for _ in range(2):
            wait_for(lambda: channel.basic_get("main")).reject()
        wait_for(lambda: broker.left() == 0)
    broker.query("SELECT broker_redrive(ARRAY(SELECT id FROM broker_dead_letter))")
    assert broker.query(PRIORITIES) == [("0", 0), ("1", 9)]


@pytest.mark.parametrize("publish", ["stock", "old"])
def test_priorities_of_payloads_are_read_by_who_has_only_them(broker: Broker, publish: str) -> None:
    """Producers of kombu's own transport, and messages from before version 8."""
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    given = {"a": PAYLOAD.format("a", 3), "b": PAYLOAD.format("b", 30), "c": PAYLOAD.format("c", 0),
             "d": PAYLOAD.format("d", 4)[:-3], "e": PAYLOAD.format("e", "null"),
             "f": json.dumps({"body": PAYLOAD.format("f", 7), "headers": {}, "properties": {}})}  # fmt: skip
    with closing(broker.connect()) as connection, connection, connection.cursor() as cursor:
        schema.upgrade(connection, to=8 if publish == "stock" else 7)
        if publish == "stock":
            schema.add_stock_names(connection)
        cursor.execute("INSERT INTO kombu_queue (name) VALUES ('main')")
        for task, payload in given.items():
            if publish == "stock":
                cursor.execute("INSERT INTO kombu_message (visible, payload, queue_id, task_id)"
                               " SELECT true, %s, id, %s FROM kombu_queue", (payload, task))  # fmt: skip
            else:
                delay = None if task in "af" else 60.0
                cursor.execute("SELECT kombu_message_publish('main', %s, %s, 'ann', NULL, %s, 100, 'main')",
                               (payload, task, delay))  # fmt: skip
        schema.upgrade(connection)
    assert broker.query(PRIORITIES) == [("a", 3), ("b", 9), ("c", 0), ("d", 0), ("e", 0), ("f", 0)]
    kept = dict(broker.query(READY)) | dict(broker.query(WAITING))
    assert kept == {"a": 3, "b": 9, "c": 0, "d": 0, "e": 0, "f": 0}


def test_publishers_of_version_7_keep_the_priority_of_their_payloads(turns: Turns) -> None:
    payload = [PAYLOAD.format(task, priority) for task, priority in (("one", 9), ("two", 0), ("three", 4))]
    turns.run("SELECT kombu_message_publish('main', %s, 'one', 'ann', NULL, NULL, 100, 'main')", payload[:1])
    many = "SELECT kombu_message_publish_many(%s, %s, %s, %s::text[], %s::text[], %s::float8[], %s)"
    nothing = [None, None]
    turns.run(many, (["main"] * 2, payload[1:], ["two", "three"], nothing, nothing, nothing, [100, 100]))
    assert turns.run(PRIORITIES) == [("one", 9), ("three", 4), ("two", 0)]


def test_a_worker_of_version_7_claims_and_retries_by_priority_and_keeps_it(turns: Turns) -> None:
    turns.run("SELECT kombu_message_publish('main', '{}', 'plain', 'ann', NULL, NULL, 100, 'main')")
    three(turns)
    claim = "SELECT message_id, token::text FROM kombu_message_claim('main', 1, NULL, 900, 0, 0)"
    [(_, token)] = turns.run(claim)
    turns.run("SELECT kombu_message_retry('high', %s, 'main', '{}', NULL, false, false, 0, 'main')", (token,))
    assert turns.run(PRIORITIES) == [("high", 9), ("low", 0), ("middle", 4), ("plain", 0)]
    assert turns.tasks() == ["high", "middle", "plain", "low"]


def test_a_write_of_a_column_by_kombus_name_leaves_a_message_at_its_place(turns: Turns) -> None:
    with closing(turns.broker.connect()) as connection:
        schema.add_stock_names(connection)
        connection.commit()
    for task, priority in (("low0", None), ("low1", None), ("high", 9)):
        turns.publish(task, priority, "ann")
    assert turns.tasks(1) == ["high"]
    turns.run("UPDATE kombu_message SET cancel_requested_at = now() WHERE task_id = 'low0'")
    assert turns.tasks() == ["low0", "low1"]
