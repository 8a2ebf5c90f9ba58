"""Who is told of a message, and when: sleepers on commit, nobody else."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

import pytest

from tasks.broker.bulk import send_many
from tasks.broker.publish import producer_in, wake
from tests.broker.conftest import PREFIX, Broker, wait_for
from tests.broker.test_consume import Taker


class Listener:
    """What a node would hear."""

    def __init__(self, broker: Broker) -> None:
        self.connection = broker.connect()
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute("LISTEN kombu_message")

    def heard(self) -> list[str]:
        """Since the last time."""
        self.cursor.execute("SELECT")  # notifications come with an answer, in the order of the commits
        told = sorted(notify.payload.partition("\t")[0] for notify in self.connection.notifies)
        self.connection.notifies.clear()
        return told


@pytest.fixture
def listener(broker: Broker) -> Iterator[Listener]:
    listener = Listener(broker)
    yield listener
    listener.connection.close()


def sleeper(broker: Broker, prefetch: int = 1) -> Taker:
    """A consumer that has looked and found nothing."""
    taker = Taker(broker.kombu(poll_seconds=60), ("main",), prefetch)
    taker.look()
    wait_for(lambda: taker.look(0.01) or taker.channel.node.reader._places["main"].sleep == 2)
    return taker


def test_sleepers_are_told_on_commit_and_not_before(broker: Broker, listener: Listener) -> None:
    taker = sleeper(broker)
    publisher = broker.connect()
    broker.send("work", producer=producer_in(publisher), queue="main")
    broker.send("work", producer=producer_in(publisher), queue="main", countdown=9)
    wake(publisher, "other")
    assert listener.heard() == []
    publisher.commit()
    publisher.close()
    assert listener.heard() == ["main", "main", "other"]
    taker.take(1)


def test_who_is_at_work_is_not_told(broker: Broker, listener: Listener) -> None:
    taker = sleeper(broker)
    broker.send("work")
    broker.send("work")
    taker.take(1)  # its window is full
    listener.heard()
    for _ in range(3):
        broker.send("work")
    with broker.connect() as connection:
        send_many(connection, broker.app, f"{PREFIX}.work", [((), {})] * 5, queue="main")
    assert listener.heard() == []
    taker.connection.close()


def test_nobody_is_told_when_nobody_is_there(broker: Broker, listener: Listener) -> None:
    broker.send("work")
    assert listener.heard() == []


def test_another_node_that_sleeps_is_told_though_one_is_at_work(broker: Broker, listener: Listener) -> None:
    busy, idle = sleeper(broker), sleeper(broker)
    broker.send("work")
    busy.take(1)
    listener.heard()
    broker.send("work")
    assert listener.heard() == ["main"]
    assert len(idle.take(1)) == 1


def test_a_publisher_that_did_not_see_the_sleeper_is_waited_for(broker: Broker, listener: Listener) -> None:
    taker = sleeper(broker)
    broker.send("work")
    (first,) = taker.take(1)
    broker.send("work")
    publisher = broker.connect()
    broker.send("work", producer=producer_in(publisher), queue="main")  # the only node is at work: tells nobody
    first.ack()
    taker.take(1)[0].ack()
    wait_for(lambda: taker.look(0.01) or taker.channel.node.reader._places["main"].sleep == 1)
    listener.heard()
    publisher.commit()
    publisher.close()
    assert listener.heard() == []
    began = monotonic()
    taker.take(1)
    assert monotonic() - began < 1  # the poll comes after 1.2 s


def test_publishers_do_not_wait_for_each_other(broker: Broker) -> None:
    sleeper(broker)
    connections = [broker.connect() for _ in range(3)]
    for connection in connections:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = 100")
        broker.send("work", producer=producer_in(connection), queue="main")
    for connection in connections:
        connection.commit()
        connection.close()
    assert broker.left() == 3


def test_no_message_is_left_with_a_sleeper_whatever_the_order(broker: Broker) -> None:
    """Publishers of all speeds against a consumer that falls asleep between any two messages."""
    number, publishers = 150, 4

    def publish(seed: int) -> None:
        with broker.connect() as connection, connection.cursor() as cursor:
            for one in range(number):
                broker.send("work", producer=producer_in(connection), queue="main")
                if (one + seed) % 3 == 0:
                    cursor.execute("SELECT pg_sleep(%s)", ((one * seed % 7) / 1000,))
                connection.commit()

    taker = sleeper(broker)
    threads = [threading.Thread(target=publish, args=(seed,)) for seed in range(1, publishers + 1)]
    for thread in threads:
        thread.start()
    took: list[Any] = []
    silent_since = monotonic()
    while len(took) < number * publishers and monotonic() - silent_since < 5:  # the poll comes after a minute
        with suppress(TimeoutError):
            taker.connection.drain_events(timeout=0.5)
        for message in taker.got:
            message.ack()
            silent_since = monotonic()
        took += taker.got
        taker.got.clear()
    for thread in threads:
        thread.join()
    assert len(took) == number * publishers
