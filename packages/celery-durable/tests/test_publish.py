"""What publishing leaves in the tables, in a transaction of its own and in the caller's."""

from datetime import UTC, datetime, timedelta

import psycopg2
import pytest
from celery_durable import BadOption, DuplicateKey, LeaseTokenMissing
from celery_durable.addresses import reveal
from celery_durable.async_database import AsyncDatabase
from celery_durable.database import Database, connect_arguments
from celery_durable.publish import producer_in
from durable_harness.broker import Broker
from kombu import Connection, Exchange, Queue
from kombu.exceptions import OperationalError
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

ROW = "SELECT visible, user_id, unique_key, delay_reason, retry_count, snooze_count, lease_token FROM kombu_message"


def lease(broker: Broker, task_id: str) -> str:
    """As if a node had claimed the message."""
    return str(
        broker.value(
            "UPDATE kombu_message SET visible = false, lease_token = gen_random_uuid(), started_at = now(),"
            " visible_at = now() + interval '1 minute' WHERE task_id = %s RETURNING lease_token",
            task_id,
        )
    )


def test_a_message_is_one_ready_row_with_its_tenant_and_key(broker: Broker) -> None:
    task_id = broker.send("work", 1, headers={"tenant": "ann", "unique_key": "repo@abc"})
    assert broker.query(ROW) == [(True, "ann", "repo@abc", None, 0, 0, None)]
    assert broker.value("SELECT task_id FROM kombu_message") == task_id


@pytest.mark.parametrize("exchange", ["", "shop"])
def test_a_session_that_ends_before_the_declaration_of_a_queue_is_replaced(broker: Broker, exchange: str) -> None:
    connection = broker.kombu()
    queue = Queue("new", Exchange(exchange), routing_key="new")
    producer = connection.Producer()
    producer.publish({}, exchange=exchange, routing_key="old", declare=[queue], retry=True)
    broker.query("DELETE FROM kombu_message")
    broker.end_sessions()
    other = Queue("newer", Exchange(exchange), routing_key="newer")
    producer.publish({}, exchange=exchange, routing_key="newer", declare=[other], retry=True)
    assert broker.value("SELECT name FROM kombu_queue JOIN kombu_message ON queue_id = kombu_queue.id") == "newer"


@pytest.mark.parametrize("kind", [Database, AsyncDatabase])
def test_a_session_that_ends_without_a_class_of_its_own_is_told_from_a_refusal(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, kind: type[Database]
) -> None:
    database = kind(broker.url)
    if isinstance(database, AsyncDatabase):
        database.open()

    def ends(*_: object) -> None:
        raise psycopg2.DatabaseError("server closed the connection unexpectedly")

    with monkeypatch.context() as patched:
        patched.setattr(database, "_execute", ends)
        with pytest.raises(psycopg2.OperationalError, match="server closed"):
            database.run("SELECT 1")
    with pytest.raises(psycopg2.errors.UndefinedTable):
        database.run("SELECT * FROM nowhere")
    assert database.run("SELECT 1") == [(1,)]
    database.close()


def test_a_countdown_waits_in_the_table(broker: Broker) -> None:
    broker.send("work", countdown=3600)
    assert broker.query("SELECT visible, delay_reason FROM kombu_message") == [(False, "eta")]
    assert 3000 < broker.value("SELECT extract(epoch FROM visible_at - clock_timestamp()) FROM kombu_message") <= 3600


def test_an_eta_in_the_past_is_no_delay(broker: Broker) -> None:
    broker.send("work", eta=datetime.now(UTC) - timedelta(minutes=1))
    assert broker.query("SELECT visible, visible_at <= clock_timestamp() FROM kombu_message") == [(True, True)]


def test_the_same_task_id_twice_is_one_message(broker: Broker) -> None:
    for _ in range(2):
        broker.send("work", task_id="one")
    assert broker.left() == 1


def test_a_second_holder_of_a_unique_key_learns_the_first(broker: Broker) -> None:
    first = broker.send("work", headers={"unique_key": "k"})
    with pytest.raises(DuplicateKey) as caught:
        broker.send("work", headers={"unique_key": "k"})
    assert (caught.value.task_id, caught.value.unique_key, broker.left()) == (first, "k", 1)


def test_a_publisher_that_tries_again_is_not_its_own_duplicate(broker: Broker) -> None:
    for _ in range(2):
        broker.send("work", task_id="one", headers={"unique_key": "k"})
    assert broker.left() == 1


def test_a_rolled_back_transaction_publishes_nothing(broker: Broker) -> None:
    engine = create_engine(broker.url.replace("postgresql:", "postgresql+psycopg2:"))
    with engine.connect() as connection:
        broker.send("work", producer=producer_in(connection), countdown=5)
        connection.rollback()
        assert broker.left() == 0
        broker.send("work", producer=producer_in(connection), countdown=5)
        connection.commit()
    engine.dispose()
    assert broker.left() == 1


def test_a_duplicate_key_leaves_the_callers_transaction_usable(broker: Broker) -> None:
    first = broker.send("work", headers={"unique_key": "k"})
    engine = create_engine(broker.url.replace("postgresql:", "postgresql+psycopg2:"))
    with Session(engine) as session, session.begin():
        with pytest.raises(DuplicateKey) as caught:
            broker.send("work", producer=producer_in(session), headers={"unique_key": "k"})
        broker.send("work", task_id="after", producer=producer_in(session))
    engine.dispose()
    assert caught.value.task_id == first
    assert {row[0] for row in broker.query("SELECT task_id FROM kombu_message")} == {first, "after"}


def test_a_retry_with_the_lease_updates_the_row_in_place(broker: Broker) -> None:
    broker.send("work", task_id="one", headers={"unique_key": "k"})
    row = broker.value("SELECT id FROM kombu_message")
    token = lease(broker, "one")
    broker.send("work", task_id="one", retries=1, countdown=30, headers={"lease_token": token})
    assert broker.query(ROW) == [(False, None, "k", "retry", 1, 0, None)]
    token = lease(broker, "one")
    broker.send("work", task_id="one", retries=2, countdown=30, snooze=True, headers={"lease_token": token})
    assert broker.query(ROW) == [(False, None, "k", "snooze", 1, 1, None)]
    assert broker.query("SELECT id, started_at FROM kombu_message") == [(row, None)]


def test_a_retry_in_the_callers_transaction_goes_with_it(broker: Broker) -> None:
    broker.send("work", task_id="one")
    token = lease(broker, "one")
    connection = broker.connect()
    options = {"task_id": "one", "retries": 1, "headers": {"lease_token": token, "snooze": True}}
    broker.send("work", producer=producer_in(connection), **options)
    connection.rollback()
    assert str(broker.query(ROW)[0][-1]) == token
    broker.send("work", producer=producer_in(connection), **options)
    connection.commit()
    connection.close()
    assert broker.query(ROW) == [(True, None, None, None, 0, 1, None)]


@pytest.mark.parametrize("gone", [True, False])
def test_a_zombies_retry_changes_nothing(broker: Broker, gone: bool) -> None:
    broker.send("work", task_id="one")
    old = lease(broker, "one")
    lease(broker, "one")
    if gone:
        broker.query("DELETE FROM kombu_message")
    before = broker.query("SELECT * FROM kombu_message")
    broker.send("work", "changed", task_id="one", retries=1, countdown=9, headers={"lease_token": old})
    assert broker.query("SELECT * FROM kombu_message") == before


def test_a_retry_that_forgot_its_token_is_refused(broker: Broker) -> None:
    broker.send("work", task_id="one")
    lease(broker, "one")
    with pytest.raises(LeaseTokenMissing):
        broker.send("work", task_id="one", retries=1)


def test_a_token_is_good_for_its_own_task_only(broker: Broker) -> None:
    broker.send("work", task_id="one")
    headers = {"lease_token": lease(broker, "one"), "lease_task": "one"}
    broker.send("work", task_id="two", headers=headers)
    assert broker.left() == 2
    assert "lease" not in broker.value("SELECT payload FROM kombu_message WHERE task_id = 'two'")


def test_publishing_fails_loudly_when_the_database_is_away(broker: Broker) -> None:
    url = broker.url.replace("postgresql:", "durable+postgresql:").replace("127.0.0.1", "127.0.0.2")
    away = Connection(url, transport_options={"max_retries": 1, "interval_start": 0})
    with away, pytest.raises((OperationalError, psycopg2.OperationalError)):
        away.Producer().publish({}, routing_key="main")


def test_a_transactional_producer_refuses_exchanges(broker: Broker) -> None:
    connection = broker.connect()
    with pytest.raises(ValueError, match="exchange"):
        producer_in(connection).publish({}, exchange="news", routing_key="all")
    connection.close()


def test_a_stock_producer_can_publish(broker: Broker) -> None:
    with Connection(broker.url.replace("postgresql:", "sqla+postgresql+psycopg2:")) as stock:
        stock.Producer().publish({"a": 1}, routing_key="main", declare=[])
    with broker.kombu().SimpleQueue("main", no_ack=True) as queue:
        assert queue.get(timeout=60).payload == {"a": 1}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lease_second": 3}, "did you mean 'lease_seconds'"),
        ({"visibility_timeout": 3}, "known are"),
        ({"priority_steps": [0, 9]}, "the priorities 0 to 9, and 9 comes first"),
        ({"queue_order_strategy": "priority"}, "priorities work without it"),
        ({"lease_seconds": 5}, "heartbeat_seconds"),
        ({"poll_seconds": "5"}, "above 0"),
        ({"queue_order": "random"}, "round_robin or strict"),
        ({"spare_queues": ["a"]}, "a dict of queue names"),
        ({"spare_queues": {"a": -1}}, "a dict of queue names"),
        ({"schema": "a; drop"}, "schema name"),
        ({"max_deliveries": 0}, "integer"),
        ({"listen": 1}, "True or False"),
    ],
)
def test_a_wrong_option_is_named(broker: Broker, options: dict[str, object], said: str) -> None:
    with pytest.raises(BadOption, match=said):
        broker.kombu(**options).connect()


def test_a_password_and_tls_survive_the_url() -> None:
    url = "postgresql+psycopg2://u%40x:p%3B%2F%40w@h:1/db?sslmode=verify-full&sslrootcert=%2Fca.pem"
    with Connection(f"durable+{url}") as connection:
        given = connect_arguments(reveal(connection.transport.url))
        assert "p%3B" not in connection.as_uri()
    assert (given["user"], given["password"], given["sslmode"]) == ("u@x", "p;/@w", "verify-full")
    assert given["sslrootcert"] == "/ca.pem"
    with pytest.raises(ValueError, match="psycopg2"):
        connect_arguments("postgresql+asyncpg://h/db")


def test_a_retry_that_goes_to_another_queue_stands_where_that_queue_does(broker: Broker) -> None:
    task_id, _, head = (broker.send("work", queue=queue) for queue in ("main", "main", "other"))
    broker.query("UPDATE kombu_message SET rank = 1000 WHERE task_id = %s RETURNING 1", head)
    token = lease(broker, task_id)
    broker.send("work", task_id=task_id, queue="other", headers={"lease_token": token, "lease_task": task_id})
    found = "SELECT q.name, m.rank FROM kombu_message m JOIN kombu_queue q ON q.id = queue_id WHERE task_id = %s"
    assert broker.query(found, task_id) == [("other", 1100)]
