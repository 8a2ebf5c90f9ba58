"""A process that is no node looks after the queues once: what dead nodes hold comes back, what living ones hold stays."""

from __future__ import annotations

import pytest
from celery_durable import upkeep
from durable_harness.broker import Broker
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for

LEASES = "SELECT count(*) FROM durable_lease"
SOON = "UPDATE kombu_node SET suspected_at = suspected_at - interval '1 min' WHERE suspected_at IS NOT NULL"


def look(broker: Broker) -> bool:
    with broker.connect() as connection:
        return upkeep.look(connection)


def twice(broker: Broker) -> None:
    """Two looks, between which more than a second seems to pass."""
    wait_for(lambda: look(broker), "the server to be up for long enough")
    broker.query(SOON)
    assert look(broker)


@pytest.fixture
def holder(broker: Broker) -> Taker:
    broker.send("work")
    made = Taker(broker.kombu(), ("main",), 1)
    made.take(1)
    return made


def test_a_living_node_keeps_what_it_holds(broker: Broker, holder: Taker) -> None:
    twice(broker)
    assert broker.value(LEASES) == 1


def test_what_a_dead_node_held_is_ready_again(broker: Broker, holder: Taker) -> None:
    broker.query("UPDATE durable_lease SET node = 7; INSERT INTO kombu_node (lock, name) VALUES (7, 'gone:7')")
    twice(broker)
    assert (broker.value(LEASES), broker.value("SELECT count(*) FROM durable_ready")) == (0, 1)
    assert broker.value("SELECT count(*) FROM kombu_node WHERE lock = 7") == 0


def test_what_is_due_becomes_ready(broker: Broker) -> None:
    broker.send("work", countdown=3600)
    twice(broker)
    assert broker.value("SELECT count(*) FROM durable_ready") == 0
    broker.query("UPDATE durable_waiting SET due_at = clock_timestamp()")
    assert look(broker)
    assert broker.value("SELECT count(*) FROM durable_ready") == 1
