"""A database without the tables: one sentence says what to run, and the command makes them, in a schema of its own too."""

import subprocess
import sys

import pytest
from celery_durable import MissingTables, schema
from durable_harness.broker import Broker, Worker
from durable_harness.waiting import wait_for
from kombu import Connection

SENTENCE = "the broker's tables are missing or too old"


@pytest.fixture
def empty(broker: Broker) -> Broker:
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return broker


def ended(worker: Worker) -> str:
    """What a worker said that could not begin."""
    assert wait_for(lambda: worker.process.poll() is not None, "its end")
    return worker.text


def test_a_publisher_hears_what_to_run(empty: Broker) -> None:
    with pytest.raises(
        MissingTables, match=rf"{SENTENCE} \(.*does not exist\): run python -m celery_durable.schema"
    ) as met:
        empty.app.send_task("bill", queue="main")
    assert str(met.value).endswith(empty.url)
    with Connection(f"durable+{empty.url}".replace("postgres@", "owner:hush@")) as connection:
        assert "hush" not in str(connection.transport.missing(ValueError("x")))
    with pytest.raises(MissingTables, match=r"schema \S+ post$"):
        empty.kombu(schema="post").Producer().publish({}, routing_key="main")


@pytest.mark.proof
@pytest.mark.parametrize("options", [{}, {"BROKER_TEST_REMOTE": "1"}, {"BROKER_TEST_LISTEN": "0"}])
def test_a_worker_ends_with_that_sentence_and_no_stack(empty: Broker, options: dict[str, str]) -> None:
    worker = empty.worker("-c", "1", ready=False, **options)
    said = ended(worker)
    assert said.count(SENTENCE) == 1
    assert f"run python -m celery_durable.schema {empty.url}" in said
    assert "Traceback" not in said
    assert worker.process.returncode == 1


def test_a_database_of_an_older_release_is_named_as_such(empty: Broker) -> None:
    connection = empty.connect()
    with connection:
        schema.upgrade(connection, to=schema.OLDEST)
    connection.close()
    with pytest.raises(MissingTables, match="too old"):
        empty.app.send_task("bill", queue="main")
    node = empty.kombu().channel().node
    with pytest.raises(MissingTables, match="too old"):
        empty.kombu().transport.prepare(node)


@pytest.mark.proof
def test_a_worker_that_serves_outlives_the_loss_of_a_table(broker: Broker) -> None:
    worker = broker.worker("-c", "1")
    broker.query("ALTER TABLE durable_message RENAME TO away; SELECT pg_notify('kombu_message', 'main')")
    wait_for(lambda: "event=broker_statement_refused" in worker.text)
    broker.query("ALTER TABLE away RENAME TO durable_message")
    broker.send("work", task_id="one")
    wait_for(lambda: broker.left() == 0 and broker.ended() == 1)


@pytest.mark.proof
def test_the_command_creates_the_schema_that_it_names(broker: Broker) -> None:
    broker.stack.callback(broker.query, "DROP SCHEMA IF EXISTS fresh CASCADE")
    argv = [sys.executable, "-m", "celery_durable.schema", broker.url, "fresh"]
    for _ in range(2):
        done = subprocess.run(argv, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"version {schema.VERSION}\n", "")
    broker.kombu(schema="fresh").Producer().publish({}, routing_key="main")
    assert broker.value("SELECT count(*) FROM fresh.durable_message") == 1


def test_who_may_use_a_schema_need_not_be_able_to_create_one(broker: Broker) -> None:
    broker.query("CREATE ROLE tenant LOGIN; CREATE SCHEMA fresh AUTHORIZATION tenant")
    broker.stack.callback(broker.query, "DROP OWNED BY tenant CASCADE; DROP ROLE tenant")
    url = broker.url.replace("//postgres@", "//tenant@")
    assert schema.main([url, "fresh"]) is None
    assert "permission denied for database" in str(schema.main([url, "another"]))
