"""Dead letters: seen, put back as they were, or dropped."""

from time import monotonic
from typing import Any

import pytest
from celery_durable import schema
from celery_durable.dead_letters import CUT, Redriven, drop, list_dead, redrive
from celery_durable.options import Options
from celery_durable.park import park
from celery_durable.statements import statements
from durable_harness.broker import Broker
from durable_harness.plans import nodes
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for
from sqlalchemy import create_engine, make_url, pool

SQL = statements(Options())
KEPT = "task_id, user_id, unique_key, rank_step, payload"


def committed(broker: Broker, act: Any, *arguments: Any, **options: Any) -> Any:
    with broker.connect() as connection:
        return act(connection, *arguments, **options)


def bury(broker: Broker, *task_ids: str, **options: Any) -> list[int]:
    """Letters of tasks that a consumer rejected; -> their ids in that order."""
    for task_id in task_ids:
        broker.send("work", task_id=task_id, **options)
    return rejected(broker, *task_ids)


def rejected(broker: Broker, *task_ids: str) -> list[int]:
    taker = Taker(broker.kombu(), ("main",), 100)
    for message in taker.take(len(task_ids)):
        message.reject()
    wait_for(lambda: taker.look(0.01) or broker.left() == 0)
    taker.channel.close()
    rows = dict(broker.query("SELECT task_id, id FROM kombu_dead_letter"))
    return [rows[task_id] for task_id in task_ids]


def fill(broker: Broker, number: int, queue: str = "main", reason: str = "lost") -> None:
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main'), ('other') ON CONFLICT DO NOTHING")
    broker.query(
        "INSERT INTO kombu_dead_letter (queue, task_id, payload, reason)"
        " SELECT %s, gen_random_uuid(), 'x', %s FROM generate_series(1, %s)",
        queue, reason, number,
    )  # fmt: skip


def test_a_letter_goes_back_as_the_message_it_was_with_counts_anew(broker: Broker) -> None:
    headers = {"tenant": "ann", "unique_key": "bill 7", "weight": 4, "mine": "ä"}
    broker.send("work", task_id="one", headers=headers)
    before = broker.query(f"SELECT {KEPT} FROM kombu_message")
    broker.query("UPDATE kombu_message SET retry_count = 2, lost_count = 3")
    [letter] = rejected(broker, "one")
    assert broker.query(f"SELECT {KEPT} FROM kombu_dead_letter") == before
    assert committed(broker, redrive, [letter]) == Redriven([letter], {})
    assert broker.query(f"SELECT {KEPT} FROM kombu_message") == before
    counts = "visible, rank IS NOT NULL, delivery_count, retry_count, snooze_count, lost_count"
    assert broker.query(f"SELECT {counts} FROM kombu_message") == [(True, True, 0, 0, 0, 0)]
    (message,) = Taker(broker.kombu(), ("main",), 10).take(1)
    assert (message.headers["id"], message.headers["mine"], message.headers["delivery_count"]) == ("one", "ä", 1)


def test_consumers_hear_of_it_when_it_commits(broker: Broker) -> None:
    [letter] = bury(broker, "one")
    taker = Taker(broker.kombu(poll_seconds=60), ("main",), 10)
    taker.look(0.1)
    connection = broker.connect()
    redrive(connection, [letter])
    taker.look(0.1)
    assert taker.got == []
    connection.commit()
    connection.close()
    assert [message.headers["id"] for message in taker.take(1)] == ["one"]


def test_after_a_rollback_the_letter_is_dead_still(broker: Broker) -> None:
    [letter] = bury(broker, "one")
    connection = broker.connect()
    assert redrive(connection, [letter]).put == [letter]
    assert drop(connection, [letter]) == []
    connection.rollback()
    connection.close()
    assert (broker.left(), broker.value("SELECT count(*) FROM kombu_dead_letter")) == (0, 1)


def test_what_is_in_the_way_keeps_a_letter_dead_and_the_others_go(broker: Broker) -> None:
    first, second, third = bury(broker, "one", "two", "three")
    [key] = bury(broker, "four", headers={"unique_key": "bill 7"})
    broker.query("UPDATE kombu_dead_letter SET queue = 'gone' WHERE task_id = 'three'")
    broker.send("work", task_id="one")
    broker.send("work", task_id="five", headers={"unique_key": "bill 7"})
    done = committed(broker, redrive)
    assert done == Redriven([second], {first: "in the way", third: "no queue", key: "in the way"})
    left = broker.query("SELECT task_id FROM kombu_dead_letter ORDER BY id")
    assert left == [("one",), ("three",), ("four",)]
    assert broker.query("SELECT task_id FROM kombu_message ORDER BY 1") == [("five",), ("one",), ("two",)]


def test_a_letter_that_cannot_be_read_may_go_back_and_dies_again(broker: Broker) -> None:
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main')")
    broker.query("INSERT INTO kombu_message (queue_id, payload) SELECT id, 'poison' FROM kombu_queue")
    for _ in range(2):
        taker = Taker(broker.kombu(), ("main",), 10)
        wait_for(lambda taker=taker: taker.look(0.05) or broker.left() == 0)
        taker.channel.close()
        [letter] = committed(broker, list_dead)
        assert (letter.reason, letter.task_id, letter.payload) == ("undecodable", None, "poison")
        assert committed(broker, redrive, [letter.id]).put == [letter.id]


def test_a_letter_of_a_parked_group_is_parked_with_it(broker: Broker) -> None:
    [letter] = bury(broker, "one", headers={"tenant": "ann"})
    broker.send("work", task_id="two", headers={"tenant": "ann"})
    committed(broker, park, "main", "ann")
    assert committed(broker, redrive, [letter]).put == [letter]
    assert broker.query("SELECT DISTINCT delay_reason FROM kombu_message") == [("parked",)]


def test_the_list_has_pages_filters_and_cut_payloads(broker: Broker) -> None:
    fill(broker, 3)
    fill(broker, 2, "other", "rejected")
    broker.query("UPDATE kombu_dead_letter SET payload = repeat('ä', 1000) WHERE queue = 'other'")
    listed = committed(broker, list_dead, most=4)
    assert [letter.id for letter in listed] == sorted((letter.id for letter in listed), reverse=True)
    rest = committed(broker, list_dead, before=listed[-1].id)
    assert len({letter.id for letter in (*listed, *rest)}) == 5
    assert (listed[0].payload_size, listed[0].payload) == (2000, "ä" * CUT)
    assert committed(broker, list_dead, [listed[0].id], whole=True)[0].payload == "ä" * 1000
    for chosen, number in (({"queue": "main"}, 3), ({"reason": "rejected"}, 2), ({"queue": "main", "reason": "x"}, 0)):
        assert len(committed(broker, list_dead, **chosen)) == number


def test_a_filter_chooses_what_goes_back_and_what_is_dropped(broker: Broker) -> None:
    fill(broker, 700)
    fill(broker, 3, "other")
    fill(broker, 2, "other", "rejected")
    assert len(committed(broker, redrive, queue="main").put) == 700
    assert len(committed(broker, drop, reason="rejected")) == 2
    assert broker.query("SELECT queue, count(*) FROM kombu_dead_letter GROUP BY 1") == [("other", 3)]
    assert len(committed(broker, drop)) == 3
    assert broker.left() == 700


def test_two_redrives_at_once_put_each_letter_once(broker: Broker) -> None:
    fill(broker, 50)
    one, two = broker.connect(), broker.connect()
    few = [row[0] for row in broker.query("SELECT id FROM kombu_dead_letter ORDER BY id LIMIT 20")]
    first = redrive(one, few)
    second = redrive(two)
    assert (len(first.put), len(second.put), second.kept) == (20, 30, {})
    assert drop(two, few) == []  # held by the other one
    for connection in (one, two):
        connection.commit()
        connection.close()
    assert (broker.left(), broker.value("SELECT count(*) FROM kombu_dead_letter")) == (50, 0)


def test_it_works_in_a_transaction_of_sqlalchemy_and_of_another_schema(broker: Broker) -> None:
    options = {"schema": "post"}
    with broker.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA post; SET search_path = public, post")
        schema.upgrade(connection, options)
        cursor.execute("INSERT INTO post.durable_queue (name) VALUES ('main')")
        cursor.execute("INSERT INTO post.kombu_dead_letter (queue, payload, reason) VALUES ('main', '{}', 'lost')")
    engine = create_engine(make_url(broker.url).set(drivername="postgresql+psycopg2"), poolclass=pool.NullPool)
    with engine.begin() as connection:
        [letter] = list_dead(connection, options=options)
        assert redrive(connection, queue="main", options=options).put == [letter.id]
    assert broker.value("SELECT count(*) FROM post.durable_message") == 1


@pytest.mark.parametrize("chosen", [{"queue": "main"}, {}], ids=["of a queue", "all"])
def test_a_page_reads_an_index_whatever_died_elsewhere(broker: Broker, chosen: dict[str, str]) -> None:
    fill(broker, 2000)
    fill(broker, 20_000, "other")
    given = {"ids": None, "queue": None, "reason": None, "before": None, "most": 10, "whole": False, "cut": CUT}
    broker.query("ANALYZE kombu_dead_letter")
    with broker.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {SQL.list_dead}", given | chosen)
        found = nodes(cursor.fetchone()[0][0]["Plan"])
    reads = [node for node in found if node.get("Relation Name") == "kombu_dead_letter"]
    assert {node["Node Type"] for node in reads} == {"Index Scan"}
    assert sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in reads) == 10


def test_letters_that_are_too_old_are_dropped_some_at_a_time(broker: Broker) -> None:
    fill(broker, 700)
    broker.query("UPDATE kombu_dead_letter SET died_at = now() - interval '8 days' WHERE id <= 600")
    node = Taker(broker.kombu(dead_letter_days=7), ("main",), 1).channel.node
    for left in (200, 100, 100):  # a batch has 500
        node.retention.look_at = 0.0
        node.step()
        assert broker.value("SELECT count(*) FROM kombu_dead_letter") == left
    assert broker.value("SELECT min(died_at) > now() - interval '7 days' FROM kombu_dead_letter")


def test_while_more_of_them_are_too_old_a_node_looks_again_soon(broker: Broker) -> None:
    fill(broker, 600)
    broker.query("UPDATE kombu_dead_letter SET died_at = now() - interval '8 days'")
    node = Taker(broker.kombu(dead_letter_days=7), ("main",), 1).channel.node
    assert node.retention.look_at > monotonic()
    for expected in ((0.0, 1.0), (300.0, 900.0)):
        node.retention.look_at, began = 0.0, monotonic()
        node.step()
        assert began + expected[0] <= node.retention.look_at <= monotonic() + expected[1]
    assert committed(broker, list_dead) == []


def test_a_letter_that_somebody_holds_stays_and_holds_nobody_up(broker: Broker) -> None:
    fill(broker, 3)
    broker.query("UPDATE kombu_dead_letter SET died_at = now() - interval '8 days'")
    node = Taker(broker.kombu(dead_letter_days=7), ("main",), 1).channel.node
    with broker.connect() as holder, holder.cursor() as cursor:
        cursor.execute("SELECT FROM kombu_dead_letter WHERE id = 2 FOR UPDATE")
        node.retention.look_at = 0.0
        node.step()
        assert [letter.id for letter in committed(broker, list_dead)] == [2]


@pytest.mark.parametrize(("given", "kept"), [({}, [2, 1]), ({"dead_letter_days": None}, [3, 2, 1])])
def test_they_stay_for_90_days_or_for_ever(broker: Broker, given: dict[str, Any], kept: list[int]) -> None:
    fill(broker, 3)
    broker.query(
        "UPDATE kombu_dead_letter SET died_at = now() - make_interval(days => CASE id WHEN 3 THEN 91 ELSE 89 END)"
    )
    node = Taker(broker.kombu(**given), ("main",), 1).channel.node
    node.retention.look_at = 0.0
    node.step()
    assert [letter.id for letter in committed(broker, list_dead)] == kept
