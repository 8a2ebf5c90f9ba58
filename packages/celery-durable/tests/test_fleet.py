"""How often one node of many looks: the cost does not grow with their number, and none that dies is missed for long."""

from statistics import mean
from time import monotonic

import pytest
from celery_durable.fleet import longest_pause, watch_pause
from durable_harness.broker import Broker
from durable_harness.taker import Take

NODES = 300
OTHERS = """
    INSERT INTO kombu_node (lock, name, queues, poll_seconds)
    SELECT n, 'node:' || n, ARRAY['main', 'other'], 5 FROM generate_series(1, %s) AS n;
    SELECT pg_advisory_lock_shared(lock) FROM kombu_node"""


def test_few_nodes_poll_and_look_as_often_as_one() -> None:
    assert {longest_pause(5, nodes) for nodes in (0, 1, 2, 20, 100)} == {5}
    assert {watch_pause(nodes) for nodes in (1, 2, 20, 100)} == {1.0}


def test_many_nodes_poll_and_look_less_often() -> None:
    assert [longest_pause(5, nodes) for nodes in (101, 300, 1_000)] == [10, 20, 80]
    assert longest_pause(0.2, 300) == 25.6
    assert mean(watch_pause(1_000) for _ in range(2_000)) == pytest.approx(10, rel=0.1)


def test_one_of_many_looks_in_each_second() -> None:
    looks = []
    for _ in range(NODES):
        at = watch_pause(NODES)  # all of them were notified at once
        while at < 60:
            looks.append(at)
            at += watch_pause(NODES, ago=0.3)
    looks.sort()
    # fifty looks a second at first and then a hundred, at random: none in a second never happens
    assert max(after - before for before, after in zip([0.0, *looks], looks, strict=False)) < 1


@pytest.mark.parametrize(
    ("queues", "listens", "longest"),
    [
        pytest.param(["main"], True, 20, id="among many"),
        pytest.param(["main"], False, 5, id="among many, without notifications"),
        pytest.param(["main", "mine"], True, 5, id="alone with one of its queues"),
    ],
)
def test_a_node_that_is_notified_polls_less_often_among_many(
    broker: Broker, taker: Take, queues: list[str], listens: bool, longest: float
) -> None:
    with broker.connect() as others, others.cursor() as cursor:
        cursor.execute(OTHERS, (NODES,))
        others.commit()
        idle = taker(*queues, listen=listens)
        idle.look()
        reader = idle.channel.node.reader
        reader.poll(10)
        began = monotonic()
        reader.poll(10)
        assert began + 0.7 * longest < reader.poll_at < monotonic() + 1.1 * longest
        assert broker.query("SELECT poll_seconds FROM kombu_node WHERE lock > %s", NODES) == [(longest,)] * listens
    others.close()


def test_a_longer_pause_is_made_when_publishers_can_know_of_it(broker: Broker, taker: Take) -> None:
    idle = taker()
    idle.look()
    reader = idle.channel.node.reader
    with broker.connect() as others, others.cursor() as cursor:
        cursor.execute(OTHERS, (NODES,))
        others.commit()
        reader.poll(10)
        assert reader.poll_at < monotonic() + 5.1
        assert broker.value("SELECT durable_sooner(6)") is True  # a delay that it could miss with its next pause
        cursor.execute("DELETE FROM kombu_node WHERE lock <= %s", (NODES,))
        others.commit()
        for _ in range(2):
            reader.poll(10)
        assert broker.value("SELECT durable_sooner(6)") is False
    others.close()
