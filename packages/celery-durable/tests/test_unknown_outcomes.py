"""The statement was committed, and nobody was told: the answer is lost on the way, with the session or without its end."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg2
import pytest
from celery_durable.publish import producer_in
from durable_harness.broker import PREFIX, Broker
from durable_harness.proxy import Proxy
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for
from kombu import Connection
from kombu.exceptions import OperationalError

PUBLISH, CLAIM, ACK = "durable_publish(", "claim (", "durable_settle("
LOST = (OperationalError, psycopg2.OperationalError)
OWN = {"lease_seconds": 1, "heartbeat_seconds": 0.3, "poll_seconds": 0.2}

Take = Callable[..., Taker]


@pytest.fixture
def proxy(broker: Broker) -> Iterator[Proxy]:
    proxy = Proxy(broker.server.port)
    proxy.start()
    yield proxy
    proxy.close()


@pytest.fixture
def far_url(broker: Broker, proxy: Proxy) -> str:
    """The broker's database through the proxy."""
    return broker.url.replace(f":{broker.server.port}/", f":{proxy.port}/")


@pytest.fixture
def far(broker: Broker, far_url: str) -> Take:
    """Consumers through the proxy."""

    def make() -> Taker:
        connection = broker.stack.enter_context(Connection(f"durable+{far_url}", transport_options=OWN))
        return Taker(connection, ("main",), 1)

    return make


@pytest.fixture
def near(broker: Broker) -> Take:
    """Consumers past the proxy."""
    return lambda: Taker(broker.kombu(**OWN | {"lease_seconds": 60}), ("main",), 1)


def publish(broker: Broker, connection: Connection, **options: Any) -> None:
    with broker.app.amqp.Producer(connection) as producer:
        broker.app.send_task(f"{PREFIX}.work", task_id="one", queue="main", producer=producer, **options)


def test_a_publish_repeated_with_its_task_id_is_one_message(broker: Broker, proxy: Proxy, far_url: str) -> None:
    with Connection(f"durable+{far_url}") as connection:
        connection.connect()
        proxy.swallow(PUBLISH)
        with pytest.raises(LOST):
            publish(broker, connection, retry=False)
        assert (proxy.swallowed.is_set(), broker.left()) == (True, 1)
        publish(broker, connection, retry=False)
    assert broker.left() == 1


def test_celery_s_own_second_attempt_is_no_second_message(broker: Broker, proxy: Proxy, far_url: str) -> None:
    with Connection(f"durable+{far_url}") as connection:
        connection.connect()
        proxy.swallow(PUBLISH)
        publish(broker, connection, retry=True, headers={"unique_key": "k"})
    assert (proxy.swallowed.is_set(), broker.left()) == (True, 1)


def test_a_publish_is_attempted_as_often_as_its_policy_says(broker: Broker, proxy: Proxy, far_url: str) -> None:
    """Or a retry is rejected, and so a dead letter, when two sessions end one after the other."""
    failures: list[Exception] = []

    def again(error: Exception, _: float) -> None:
        failures.append(error)
        if len(failures) < 3:
            proxy.swallow(PUBLISH, reaches_server=False)

    with Connection(f"durable+{far_url}") as connection:
        connection.connect()
        proxy.swallow(PUBLISH, reaches_server=False)
        publish(broker, connection, retry=True, retry_policy={"max_retries": None, "errback": again})
    assert (len(failures), broker.left()) == (3, 1)


def test_a_transaction_repeated_after_a_lost_commit_is_one_message(broker: Broker, proxy: Proxy, far_url: str) -> None:
    def attempt() -> None:
        connection = psycopg2.connect(far_url)
        try:
            broker.send("work", task_id="one", producer=producer_in(connection), headers={"unique_key": "k"})
            connection.commit()
        finally:
            connection.close()

    broker.query("INSERT INTO kombu_queue (name) VALUES ('main')")  # made apart, it would be that commit
    proxy.swallow("COMMIT")
    with pytest.raises(psycopg2.OperationalError):
        attempt()
    assert (proxy.swallowed.is_set(), broker.left()) == (True, 1)
    attempt()
    assert broker.left() == 1


@pytest.mark.proof
@pytest.mark.parametrize("ends_session", [True, False], ids=["session ends", "session stays"])
def test_a_claim_whose_answer_is_lost_is_delivered_to_another(
    broker: Broker, proxy: Proxy, far: Take, near: Take, ends_session: bool
) -> None:
    unlucky, other = far(), near()
    unlucky.look()
    proxy.swallow(CLAIM, ends_session=ends_session)
    broker.send("work")
    wait_for(lambda: unlucky.look() or proxy.swallowed.is_set())
    assert broker.value("SELECT lease_token IS NOT NULL FROM kombu_message")
    (message,) = other.take(1)
    assert (message.headers["delivery_count"], message.headers["lost_count"]) == (2, 0)
    unlucky.look(0.2)
    assert unlucky.got == []


@pytest.mark.proof
def test_an_acknowledgement_whose_answer_is_lost_is_repeated_and_harms_nobody(
    broker: Broker, proxy: Proxy, far: Take, near: Take
) -> None:
    broker.send("work", task_id="first")
    unlucky = far()
    (first,) = unlucky.take(1)
    proxy.swallow(ACK)
    first.ack()
    assert (proxy.swallowed.is_set(), broker.left()) == (True, 0)
    broker.send("work", task_id="first")  # the same id anew, while the old acknowledgement is still to be repeated
    (again,) = near().take(1)
    unlucky.look(0.5)
    assert unlucky.got == []
    held = broker.query("SELECT lease_token::text, delivery_count FROM kombu_message WHERE task_id = 'first'")
    assert held == [(again.headers["lease_token"], 1)]
    wait_for(lambda: unlucky.look() or not unlucky.channel.node._ledger)
    assert broker.left() == 1


@pytest.mark.proof
def test_a_retry_whose_answer_is_lost_counts_once(broker: Broker, proxy: Proxy, far: Take, far_url: str) -> None:
    broker.send("work", task_id="one")
    (message,) = far().take(1)
    token = {"lease_token": message.headers["lease_token"]}
    with Connection(f"durable+{far_url}") as connection:
        connection.connect()
        proxy.swallow("durable_retry(")
        publish(broker, connection, retry=True, retries=1, countdown=60, headers=token)
    found = broker.query("SELECT retry_count, delay_reason, lease_token FROM kombu_message")
    assert (proxy.swallowed.is_set(), found) == (True, [(1, "retry", None)])
