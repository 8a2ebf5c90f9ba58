"""How often one node of many looks: the cost does not grow with their number, and none that dies is missed for long."""

from statistics import mean
from time import monotonic

import pytest
from celery_durable.fleet import LOOKS, poll_pause, watch_pause
from durable_harness.broker import Broker
from durable_harness.taker import Take

NODES = 300
OTHERS = """
    INSERT INTO kombu_node (lock, name, queues)
    SELECT n, 'node:' || n, ARRAY['main', 'other'] FROM generate_series(1, %s) AS n;
    SELECT pg_advisory_lock_shared(lock) FROM kombu_node"""


def test_few_nodes_poll_and_look_as_often_as_one() -> None:
    assert {poll_pause(5, nodes) for nodes in (1, 2, 20, 60)} == {5}
    assert {watch_pause(nodes) for nodes in (1, 2, 20)} == {1.0}


@pytest.mark.parametrize("nodes", [NODES, 1_000])
def test_many_nodes_together_poll_and_look_as_often_as_twenty(nodes: int) -> None:
    expected = nodes / LOOKS
    assert mean(poll_pause(5, nodes) for _ in range(2_000)) == pytest.approx(expected, rel=0.1)
    assert mean(watch_pause(nodes) for _ in range(2_000)) == pytest.approx(expected, rel=0.1)


def test_one_of_many_looks_in_each_second() -> None:
    looks = []
    for _ in range(NODES):
        at = watch_pause(NODES)  # all of them were notified at once
        while at < 60:
            looks.append(at)
            at += watch_pause(NODES, ago=0.3)
    looks.sort()
    # at least ten looks a second, at random: none in two seconds would be one run of five million
    assert max(after - before for before, after in zip([0.0, *looks], looks, strict=False)) < 2


@pytest.mark.parametrize(
    ("queues", "listens", "least", "most"),
    [
        pytest.param(["main"], True, 7, 30, id="among many"),
        pytest.param(["main"], False, 0, 5, id="among many, without notifications"),
        pytest.param(["main", "mine"], True, 0, 5, id="alone with one of its queues"),
    ],
)
def test_a_node_that_is_notified_polls_less_often_among_many(
    broker: Broker, taker: Take, queues: list[str], listens: bool, least: float, most: float
) -> None:
    with broker.connect() as others, others.cursor() as cursor:
        cursor.execute(OTHERS, (NODES,))
        others.commit()
        idle = taker(*queues, listen=listens)
        idle.look()
        began = monotonic()
        idle.channel.node.reader.poll(10)
        assert idle.channel.node.reader.poll_at >= began + least
        assert idle.channel.node.reader.poll_at <= monotonic() + most
    others.close()
