"""The message of a running task, in a transaction of the application."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg2
import pytest
from celery_durable.database import runner
from celery_durable.messages import delete, fence, start
from celery_durable.statements import cached_statements
from durable_harness.broker import Broker
from durable_harness.taker import Take
from durable_harness.waiting import wait_for

FREE = "SELECT count(*) FROM (SELECT FROM kombu_message FOR UPDATE SKIP LOCKED) AS free"


@pytest.fixture
def held(broker: Broker, taker: Take) -> str:
    """The token of a lease on a message with the task id `one`."""
    broker.send("nothing", task_id="one")
    [message] = taker().take(1)
    return str(message.headers["lease_token"])


@pytest.fixture
def connection(broker: Broker) -> Iterator[Any]:
    with broker.connect() as connection:
        yield connection
    connection.close()


def test_the_fence_holds_the_message_under_its_lease(broker: Broker, held: str, connection: Any) -> None:
    assert fence(connection, "one", held)
    assert broker.value(FREE) == 0
    connection.rollback()
    assert broker.value(FREE) == 1


def test_there_is_no_fence_for_a_lease_that_is_lost(broker: Broker, held: str, connection: Any) -> None:
    broker.query("UPDATE kombu_message SET lease_token = gen_random_uuid()")
    assert not fence(connection, "one", held)
    assert not fence(connection, "two", held)


@pytest.mark.parametrize("again", [True, False], ids=["claimed again", "ready"])
def test_a_fence_that_waits_for_the_end_of_its_lease_sees_it(
    broker: Broker, held: str, connection: Any, *, again: bool
) -> None:
    """A statement that has waited for a row looks at it again with the snapshot of before."""
    row_id = broker.value("SELECT id FROM broker_lease")
    fencing = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%%broker_fence%%'"
    with broker.connect() as rescuer, rescuer.cursor() as cursor, ThreadPoolExecutor(1) as pool:
        cursor.execute("SELECT durable_give_back(%s, %s::uuid[], 'died')", ([row_id], [held]))
        if again:
            cursor.execute("SELECT durable_claim('main', 1, NULL, 15, 0, 0)")
        fenced = pool.submit(fence, connection, "one", held)
        wait_for(lambda: fenced.done() or broker.value(fencing))
        rescuer.commit()
        assert not fenced.result()
    rescuer.close()


def test_a_task_that_holds_its_message_keeps_no_renewal_waiting(broker: Broker, held: str, connection: Any) -> None:
    assert fence(connection, "one", held)
    given = {"ids": [broker.value("SELECT id FROM broker_lease")], "tokens": [held], "lease": 900, "begun": []}
    with broker.connect() as heart:
        assert [kept for _, kept in runner(heart)(cached_statements(None).renew, given)] == [True]
    heart.close()


def test_a_start_is_marked_by_the_callers_commit(broker: Broker, held: str, connection: Any) -> None:
    start(connection, "one", held)
    assert broker.value("SELECT started_at FROM kombu_message") is None
    connection.commit()
    assert broker.value("SELECT started_at FROM kombu_message") is not None


def test_a_message_ends_with_the_callers_commit(broker: Broker, held: str, connection: Any) -> None:
    delete(connection, "one", held)
    connection.rollback()
    assert broker.left() == 1
    delete(connection, "one", held)
    connection.commit()
    assert broker.left() == 0


def test_a_token_that_is_none_is_an_error_and_no_lost_lease(broker: Broker, connection: Any) -> None:
    with pytest.raises(psycopg2.errors.InvalidTextRepresentation):
        fence(connection, "one", "no token")
