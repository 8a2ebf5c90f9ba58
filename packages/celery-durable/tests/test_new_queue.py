"""The first message of a queue that nobody has declared, in a transaction that stays open."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg2
import pytest
from celery_durable import own_commit, schema
from celery_durable.publish import producer_in
from celery_durable.template import Template, send_many
from durable_harness.broker import Broker
from sqlalchemy import create_engine, make_url, pool
from sqlalchemy.orm import Session

QUEUES = "SELECT name FROM kombu_queue ORDER BY name"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy server may answer late."""
    for name in ("CONNECT_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(own_commit, name, 60)


@contextmanager
def opened(broker: Broker, how: str) -> Iterator[Any]:
    """A transaction of the caller's, in each way that it may be given."""
    if how == "psycopg2":
        with closing(broker.connect()) as connection:
            yield connection
        return
    if how == "psycopg":
        psycopg = pytest.importorskip("psycopg")
        with closing(psycopg.connect(broker.url)) as connection:
            yield connection
        return
    engine = create_engine(make_url(broker.url).set(drivername="postgresql+psycopg2"), poolclass=pool.StaticPool)
    with Session(engine) if how == "session" else engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.mark.proof
@pytest.mark.parametrize("how", ["psycopg2", "psycopg", "connection", "session"])
def test_the_others_of_a_new_queue_do_not_wait_for_it(broker: Broker, how: str) -> None:
    with opened(broker, how) as long:
        broker.app.send_task("bill", task_id="one", queue="new", producer=producer_in(long))
        Template(broker.app, "bill", {"queue": "newer"}).send(long, "two", (), {})
        [third] = send_many(long, broker.app, "bill", [((), {})], queue="newest")
        with closing(broker.connect()) as other, other.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
            for queue in ("new", "newer", "newest"):
                broker.app.send_task("bill", task_id=f"other {queue}", queue=queue, producer=producer_in(other))
            other.commit()
        broker.app.send_task("bill", task_id="third", queue="new")
        assert broker.left() == 4
        long.commit()
    assert broker.left() == 7
    assert broker.value("SELECT count(*) FROM kombu_message WHERE task_id = ANY (%s)", ["one", "two", third]) == 3


def test_after_a_rollback_the_queue_is_there_and_its_message_is_not(broker: Broker) -> None:
    with opened(broker, "psycopg2") as connection:
        broker.app.send_task("bill", queue="new", producer=producer_in(connection))
        connection.rollback()
    assert (broker.query(QUEUES), broker.left()) == ([("new",)], 0)


@pytest.mark.parametrize(
    "first",
    [
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",  # it would not see the row of another session
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "SET ROLE other",
        "INSERT INTO kombu_queue (name) VALUES ('newer')",  # of its own, so that a second session would wait for it
    ],
)
def test_where_it_cannot_be_apart_the_queue_is_made_in_the_transaction(broker: Broker, first: str) -> None:
    broker.query("CREATE ROLE other; GRANT ALL ON ALL TABLES IN SCHEMA public TO other")
    broker.query(
        "GRANT ALL ON ALL FUNCTIONS IN SCHEMA public TO other; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO other"
    )
    broker.query("GRANT USAGE ON SCHEMA public TO other")
    broker.stack.callback(broker.query, "DROP OWNED BY other; DROP ROLE other")
    with opened(broker, "psycopg2") as connection, connection.cursor() as cursor:
        cursor.execute(first)
        broker.app.send_task("bill", task_id="one", queue="new", producer=producer_in(connection))
        broker.app.send_task("bill", task_id="two", queue="newer", producer=producer_in(connection))
        connection.commit()
    assert broker.query(QUEUES) == [("new",), ("newer",)]
    assert broker.left() == 2


def test_a_session_that_cannot_be_opened_is_not_needed(broker: Broker) -> None:
    """As where the password is asked for by a program, or the role has no session left."""
    broker.query("CREATE ROLE lonely LOGIN CONNECTION LIMIT 1")
    broker.stack.callback(broker.query, "DROP OWNED BY lonely; DROP ROLE lonely")
    with closing(broker.connect()) as connection, connection:
        schema.grant(connection, "lonely", "publisher")
    with closing(psycopg2.connect(broker.url.replace("//postgres@", "//lonely@"))) as connection:
        broker.app.send_task("bill", queue="new", producer=producer_in(connection))
        assert broker.query(QUEUES) == []
        connection.commit()
    assert (broker.query(QUEUES), broker.left()) == ([("new",)], 1)
