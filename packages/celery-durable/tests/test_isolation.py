"""Databases and callers whose isolation level is not the default one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from celery_durable import schema
from durable_harness.postgres import PostgresServer
from durable_harness.standing import TASKS, Standing, standing


#: Whoever writes leaves its level.
LEVELS = """
    CREATE TABLE levels (level text);
    CREATE FUNCTION note_level() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO levels VALUES (current_setting('transaction_isolation'));
        RETURN NULL;
    END $$"""
NOTE_LEVEL = "CREATE TRIGGER note_level AFTER INSERT OR UPDATE OR DELETE ON {} EXECUTE FUNCTION note_level()"
TABLES = ("kombu_queue", "kombu_message", "kombu_node", "kombu_broadcast", "kombu_dead_letter")


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
    assert "heartbeat_failed" not in worker.text


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
