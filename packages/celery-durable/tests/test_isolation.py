"""Databases and callers whose isolation level is not the default one."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from celery_durable import own_commit, schema
from celery_durable.publish import producer_in
from celery_durable.template import send_many
from durable_harness.broker import Broker
from durable_harness.postgres import PostgresServer
from durable_harness.standing import TASKS, Standing, standing
from durable_harness.taker import Take

#: Whoever writes leaves its level.
LEVELS = """
    CREATE TABLE levels (level text);
    CREATE FUNCTION note_level() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO levels VALUES (current_setting('transaction_isolation'));
        RETURN NULL;
    END $$"""
NOTE_LEVEL = "CREATE TRIGGER note_level AFTER INSERT OR UPDATE OR DELETE ON {} EXECUTE FUNCTION note_level()"
TABLES = (
    "durable_queue", "durable_message", "durable_ready", "durable_lease", "durable_waiting", "kombu_node",
    "kombu_broadcast", "kombu_dead_letter",
)  # fmt: skip


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy server may answer late."""
    for name in ("CONNECT_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(own_commit, name, 60)


@pytest.fixture(params=["serializable", "repeatable read"])
def strict(server: PostgresServer, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Standing]:
    """A database whose default is a stricter level."""
    with standing(server, tmp_path) as broker:
        name = broker.value("SELECT current_database()")
        broker.query(f"ALTER DATABASE {name} SET default_transaction_isolation = '{request.param}'")
        broker.query(LEVELS)
        for table in TABLES:
            broker.query(NOTE_LEVEL.format(table))
        yield broker


@pytest.mark.proof
def test_every_session_of_the_transport_is_read_committed(strict: Standing) -> None:
    assert strict.value("SHOW transaction_isolation") != "read committed"
    worker = strict.worker("-c", "2", "-I", TASKS, BROKER_TEST_REMOTE="1", BROKER_TEST_HEARTBEAT="0.1")
    sent = [strict.send("report", number) for number in range(20)]
    slow, retried = strict.send("sleeps", 0.5), strict.send("retried", 1)
    dead = strict.send("dies_for_good")
    assert strict.app.control.inspect(timeout=10).ping()
    for task_id in (*sent, slow, retried, dead):
        strict.is_over(task_id)
    assert worker.stop() == 0
    assert strict.query("SELECT DISTINCT level FROM levels") == [("read committed",)]
    assert "could not serialize" not in worker.text  # a beat that has a row locked refuses a claim, too
    assert "renewal_failed" not in worker.text


def test_the_session_that_makes_a_queue_is_read_committed(strict: Standing) -> None:
    with closing(strict.connect()) as caller:
        caller.set_session(isolation_level="READ COMMITTED")
        publish(strict, caller, queue="new")
        caller.rollback()
    assert strict.query("SELECT level FROM levels") == [("read committed",)]


def test_the_command_for_the_schema_is_read_committed(strict: Standing) -> None:
    strict.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    strict.query("CREATE TABLE levels (level text)")
    strict.query("""
        CREATE FUNCTION note_level() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO levels VALUES (current_setting('transaction_isolation'));
        END $$;
        CREATE EVENT TRIGGER note_level ON ddl_command_end EXECUTE FUNCTION note_level()""")
    assert schema.main([strict.url]) is None
    assert strict.query("SELECT DISTINCT level FROM levels WHERE level <> 'read committed'") == []
    assert strict.value("SELECT version FROM kombu_schema") == schema.VERSION


def publish(broker: Broker, caller: Any, **options: Any) -> None:
    broker.send("nothing", producer=producer_in(caller), **options)


@pytest.fixture
def callers(broker: Broker) -> Iterator[list[Any]]:
    """Two whose transactions are serializable."""
    broker.send("nothing", task_id="before")
    broker.query("CREATE TABLE orders (number int)")
    with ExitStack() as stack:
        both = [stack.enter_context(closing(broker.connect())) for _ in range(2)]
        for caller in both:
            caller.set_session(isolation_level="SERIALIZABLE")
        yield both


@pytest.mark.parametrize(
    "options", [{}, {"headers": {"tenant": "ann"}}, {"countdown": 60}], ids=["plain", "tenant", "delay"]
)
def test_two_serializable_transactions_that_publish_both_commit(
    broker: Broker, callers: list[Any], options: dict[str, Any]
) -> None:
    for number, caller in enumerate(callers):
        with caller.cursor() as cursor:
            cursor.execute("INSERT INTO orders VALUES (%s)", [number])
        publish(broker, caller, **options)
    for caller in callers:
        caller.commit()
    assert broker.left() == 3


def test_two_serializable_transactions_that_publish_many_both_commit(broker: Broker, callers: list[Any]) -> None:
    for caller in callers:
        send_many(caller, broker.app, f"{TASKS}.report", [((), {})] * 3, queue="main", headers={"tenant": "ann"})
    for caller in callers:
        caller.commit()
    assert broker.left() == 7


def test_what_serializable_transactions_publish_is_fair_and_comes_at_once(
    broker: Broker, callers: list[Any], taker: Take
) -> None:
    taken = taker("main", prefetch=1, poll_seconds=60)
    taken.take(1)[0].ack()
    for number in range(2):
        publish(broker, callers[0], task_id=f"ann{number}", headers={"tenant": "ann"}, eta=None)
    callers[0].commit()
    publish(broker, callers[1], task_id="bob", headers={"tenant": "bob"})
    callers[1].commit()
    got = []
    for _ in range(3):
        got += taken.take(1)
        got[-1].ack()
    assert [message.headers["id"] for message in got] == ["ann0", "bob", "ann1"]


def test_a_clock_that_is_ahead_does_not_delay_what_is_published_in_a_serializable_transaction(
    broker: Broker, callers: list[Any], taker: Take
) -> None:
    taken = taker("main", prefetch=10, poll_seconds=60)
    taken.take(1)
    with callers[0].cursor() as cursor:
        payload = '{"body": "e30=", "headers": {"id": "one", "eta": "9998-01-01T00:00:00+00:00"}, "properties": {"body_encoding": "base64"}}'
        cursor.execute("SELECT durable_publish('main', %s, 'one', NULL, NULL, NULL, 100, 'main')", [payload])
    callers[0].commit()
    assert [message.headers["id"] for message in taken.take(1)] == ["one"]


@pytest.mark.proof
def test_a_retry_in_a_serializable_transaction_comes_back(broker: Broker, callers: list[Any], taker: Take) -> None:
    taken = taker("main", prefetch=10, poll_seconds=60)
    [message] = taken.take(1)
    held = {"lease_token": message.headers["lease_token"], "lease_task": "before"}
    publish(broker, callers[0], task_id="before", retries=1, headers=held)
    callers[0].commit()
    assert [message.headers["retry_count"] for message in taken.take(1)] == [1]
