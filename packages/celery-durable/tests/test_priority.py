"""A priority decides which message of a tenant takes its next turn, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from celery_durable.publish import producer_in
from celery_durable.template import send_many
from durable_harness.broker import PREFIX, Broker
from durable_harness.taker import Take
from durable_harness.turns import Turns
from durable_harness.versions import needs_batches
from durable_harness.waiting import wait_for


@pytest.fixture
def turns(broker: Broker) -> Turns:
    made = Turns(broker)
    made.add_queue()
    return made


@pytest.mark.parametrize("tenant", [None, "ann"])
def test_the_highest_comes_first_and_of_one_priority_the_oldest(turns: Turns, tenant: str | None) -> None:
    for task, priority in (("a", None), ("b", 3), ("c", 9), ("d", 0), ("e", 3), ("f", 9), ("g", -5), ("h", 10)):
        turns.publish(task, priority, tenant)
    assert turns.tasks() == ["c", "f", "h", "b", "e", "a", "d", "g"]


@pytest.mark.parametrize("most", [1, 3, 10])
def test_one_claim_of_many_gives_what_many_of_one_give(turns: Turns, most: int) -> None:
    for number in range(10):
        turns.publish(f"{number}", (0, 7, 2)[number % 3])
    found: list[str] = []
    while got := turns.claim(most):
        found += [one.task for one in got]
    assert found == ["1", "4", "7", "2", "5", "8", "0", "3", "6", "9"]


def test_what_is_published_later_overtakes_and_what_it_passed_keeps_its_order(turns: Turns) -> None:
    for number in range(4):
        turns.publish(f"low{number}")
    assert turns.tasks(1) == ["low0"]
    turns.publish("high0", 1)
    turns.publish("low4")
    assert turns.tasks(1) == ["high0"]
    turns.publish("high1", 1)
    turns.publish("low5")
    assert turns.tasks() == ["high1", "low1", "low2", "low3", "low4", "low5"]


@pytest.mark.parametrize(
    "mark",
    [lambda _: 9, lambda number: number % 10, lambda number: 9 * (number > 0)],
    ids=["all", "by turns", "a low one at the head"],
)
def test_no_tenant_gets_more_turns_by_its_priorities(turns: Turns, mark: Callable[[int], int]) -> None:
    turns.add_queue("plain")
    for number in range(20):
        for tenant, priority in (("loud", mark(number)), ("quiet", None)):
            turns.publish(f"{tenant} {number}", priority, tenant)
            turns.publish(f"{tenant} {number}", None, tenant, queue="plain")
    whose = [[task.split()[0] for task in turns.tasks(queue=queue)] for queue in ("main", "plain")]
    assert whose[0] == whose[1] == ["loud", "quiet"] * 20


def test_a_weight_is_a_share_with_priorities_too(turns: Turns) -> None:
    for number in range(12):
        turns.publish(f"heavy {number}", number % 2, "heavy", step=50)
        turns.publish(f"light {number}", 5 * (number % 2), "light")
    whose = [task[0] for task in turns.tasks(12)]
    assert (whose.count("h"), whose.count("l")) == (8, 4)


def test_a_tenant_that_comes_anew_is_not_behind_the_priorities_of_others(turns: Turns) -> None:
    for number in range(100):
        turns.publish(f"many {number}", 9, "many")
    assert turns.tasks(2) == ["many 0", "many 1"]
    turns.publish("few", None, "few")
    assert "few" in turns.tasks(2)


def test_a_claim_from_a_rank_on_finds_the_best_that_stands_before_it(turns: Turns) -> None:
    """A node begins to read where its last claim did; what came back meanwhile has a lower rank."""
    turns.publish("first", 9)
    [first] = turns.claim()
    turns.publish("second", 5)
    turns.publish("third", 5)
    [second] = turns.claim()
    turns.publish("fourth", 1)
    turns.give_back(first)
    ranks = dict(turns.run("SELECT m.task_id, r.rank FROM durable_ready AS r JOIN durable_message AS m USING (id)"))
    [(which,)] = turns.run("SELECT id FROM durable_queue WHERE name = 'main'")
    claim = "SELECT message_id, place FROM durable_take_turns(%s, 2, NULL, 900, %s)"
    [(one, its_rank), (other, _)] = turns.run(claim, (which, ranks["third"]))
    assert (one, its_rank) == (first.id, first.rank)
    assert turns.run("SELECT task_id FROM durable_message WHERE id = %s", (other,)) == [("third",)]
    assert second.rank not in {rank for rank, _ in turns.turns()}


@needs_batches
def test_each_way_to_publish_has_the_priority(broker: Broker, taker: Take) -> None:
    def send(task_id: str, priority: int, **options: object) -> None:
        broker.send("nothing", task_id=task_id, queue="main", priority=priority, **options)

    broker.declare("main")
    send("alone", 1)
    with broker.connect() as own:
        send("in a transaction", 3, producer=producer_in(own))
        with (producer := producer_in(own)).batch():
            send("in a batch", 5, producer=producer)
            send("in a batch too", 2, producer=producer)
        with (producer := producer_in(own)).batch():
            send("each", 6, producer=producer, headers={"tenant": "", "most_ready": 50})
            send("each too", 4, producer=producer, headers={"tenant": "", "most_ready": 50})
        [many] = send_many(own, broker.app, f"{PREFIX}.nothing", [((), {})], queue="main", priority=7)
        [more, *_] = send_many(own, broker.app, f"{PREFIX}.nothing", [((), {})] * 2, queue="main", priority=8)
    own.close()
    found = dict(broker.query("SELECT task_id, priority FROM broker_message"))
    assert [found[many], found[more]] == [7, 8]
    assert {name: priority for name, priority in found.items() if " " in name or name in {"alone", "each"}} == {
        "alone": 1, "in a batch too": 2, "in a transaction": 3, "each too": 4, "in a batch": 5, "each": 6,
    }  # fmt: skip
    assert (
        dict(broker.query("SELECT m.task_id, r.priority FROM broker_ready r JOIN broker_message m USING (id)")) == found
    )
    order = [message.properties["priority"] for message in taker(prefetch=20).take(len(found))]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize(
    ("given", "kept"), [(5, 5), ("5", 5), (12, 9), (-1, 0), (None, 0), ("high", 0), (2.7, 2), (float("nan"), 0)]
)
def test_a_priority_is_read_as_kombu_reads_it(broker: Broker, given: object, kept: int) -> None:
    with broker.kombu().channel() as channel:
        channel.queue_declare("main")
        message = channel.prepare_message("{}", content_type="application/json", content_encoding="utf-8")
        message["properties"]["priority"] = given
        channel.basic_publish(message, "", "main")
        assert channel._get_message_priority(message) == kept
    assert broker.query("SELECT priority FROM broker_message") == [(kept,)]


def test_a_worker_runs_the_highest_first(broker: Broker) -> None:
    broker.declare("main")
    for number, priority in enumerate((0, 9, 4, 9, 1)):
        broker.send("work", task_id=f"{number}", priority=priority)
    broker.worker("-c", "1")
    wait_for(lambda: broker.ended() == 5)
    starts = "SELECT task_id FROM runs WHERE what = 'start' ORDER BY id"
    assert [task for (task,) in broker.query(starts)] == ["1", "3", "2", "4", "0"]
