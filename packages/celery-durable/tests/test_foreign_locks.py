"""A row that somebody else has locked costs nobody anything but that row."""

from collections.abc import Iterator
from typing import Any

import pytest
from durable_harness.broker import Broker
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for

#: The lease is short, and the heart beats often enough.
SHORT = {"lease_seconds": 5, "heartbeat_seconds": 0.3, "poll_seconds": 0.2}
HELD = "SELECT lease_token::text FROM kombu_message WHERE task_id = %s"


class Locker:
    """Somebody with a long transaction."""

    def __init__(self, broker: Broker) -> None:
        self.connection = broker.connect()

    def lock(self, task_id: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT FROM kombu_message WHERE task_id = %s FOR UPDATE", (task_id,))
            assert cursor.rowcount == 1

    def end(self) -> None:
        self.connection.rollback()


@pytest.fixture
def locker(broker: Broker) -> Iterator[Locker]:
    locker = Locker(broker)
    yield locker
    locker.connection.close()


def taker(broker: Broker, **options: Any) -> Taker:
    return Taker(broker.kombu(**SHORT, **options), ("main",), 10)


def pass_(broker: Broker, seconds: float) -> None:
    """By the database's clock."""
    end = broker.value("SELECT clock_timestamp() + make_interval(secs => %s)", seconds)
    wait_for(lambda: broker.value("SELECT clock_timestamp() > %s", end))


@pytest.mark.proof
def test_the_other_leases_of_the_node_are_renewed(broker: Broker, locker: Locker) -> None:
    for name in ("locked", "free"):
        broker.send("work", task_id=name)
    one = taker(broker)
    token = {message.headers["id"]: message.headers["lease_token"] for message in one.take(2)}
    locker.lock("locked")
    pass_(broker, 1.5 * SHORT["lease_seconds"])
    assert broker.value("SELECT visible_at > clock_timestamp() FROM kombu_message WHERE task_id = 'free'")
    heir = taker(broker)
    heir.look(0.5)
    assert (heir.got, broker.value(HELD, "free")) == ([], token["free"])


@pytest.mark.proof
def test_a_lease_that_was_locked_for_a_moment_is_renewed_soon_after(broker: Broker, locker: Locker) -> None:
    broker.send("work", task_id="locked")
    one = taker(broker)
    (message,) = one.take(1)
    locker.lock("locked")
    pass_(broker, 0.5 * SHORT["lease_seconds"])
    locker.end()
    pass_(broker, SHORT["lease_seconds"])
    assert broker.value("SELECT visible_at > clock_timestamp() FROM kombu_message")
    assert broker.value(HELD, "locked") == message.headers["lease_token"]


@pytest.mark.proof
def test_acknowledgements_and_claims_go_on_and_the_locked_one_follows(broker: Broker, locker: Locker) -> None:
    for name in ("locked", "free"):
        broker.send("work", task_id=name)
    one = Taker(broker.kombu(), ("main",), 10)
    messages = one.take(2)
    locker.lock("locked")
    for message in messages:
        message.ack()
    broker.send("work", task_id="next")
    assert [message.headers["id"] for message in one.take(1)] == ["next"]
    assert broker.query("SELECT task_id FROM kombu_message ORDER BY id") == [("locked",), ("next",)]
    locker.end()
    wait_for(lambda: one.look(0.1) or broker.query("SELECT task_id FROM kombu_message") == [("next",)])


@pytest.mark.proof
@pytest.mark.parametrize("how", ["reject", "requeue"])
def test_a_delivery_that_ends_otherwise_is_written_down_when_its_row_is_free(
    broker: Broker, locker: Locker, how: str
) -> None:
    broker.send("work", task_id="locked")
    one = Taker(broker.kombu(), ("main",), 10)
    (message,) = one.take(1)
    locker.lock("locked")
    getattr(message, how)()
    broker.send("work", task_id="next")
    assert [message.headers["id"] for message in one.take(1)] == ["next"]
    locker.end()
    dead = "SELECT count(*) FROM kombu_dead_letter"
    if how == "reject":
        wait_for(lambda: one.look(0.1) or broker.value(dead) == 1)
    else:
        assert [message.headers["delivery_count"] for message in one.take(1)] == [2]


@pytest.mark.proof
def test_a_node_that_closes_hands_the_others_back_and_the_locked_one_is_found_later(
    broker: Broker, locker: Locker
) -> None:
    for name in ("locked", "free"):
        broker.send("work", task_id=name)
    one = Taker(broker.kombu(lease_seconds=600), ("main",), 10)
    one.take(2)
    locker.lock("locked")
    one.connection.release()
    heir = Taker(broker.kombu(poll_seconds=0.2), ("main",), 10)
    assert [message.headers["id"] for message in heir.take(1)] == ["free"]
    locker.end()
    (message,) = heir.take(1)
    assert (message.headers["id"], message.headers["lost_count"]) == ("locked", 0)


def test_a_queue_s_row_that_is_locked_stops_no_claim(broker: Broker) -> None:
    one = Taker(broker.kombu(), ("main",), 10)
    one.look()
    with broker.connect() as foreign, foreign.cursor() as cursor:
        cursor.execute("SELECT FROM kombu_queue FOR UPDATE")
        one.channel.node.reader._positions["main"]._claimed = 10_000  # the floor is due to be written
        broker.send("work")
        one.take(1)
        foreign.rollback()
    foreign.close()
