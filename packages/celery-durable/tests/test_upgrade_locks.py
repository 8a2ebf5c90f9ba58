"""The step to version 8 takes its locks together or not at all: nobody waits long behind it, and at last it gives up."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg2
import pytest
from celery_durable import schema
from durable_harness.broker import Broker
from durable_harness.waiting import wait_for

BEFORE = 7
PUBLISH = "SELECT kombu_message_publish('main', '{}', %s, NULL, NULL, NULL, 100, 'main')"
WAITS = """
    SELECT count(*) FROM pg_locks
     WHERE NOT granted AND mode = 'AccessExclusiveLock' AND relation = to_regclass(%s)"""
#: Whoever waits for an exclusive lock of the first one, and has none of those of the second.
WAITS_ALONE = """
    SELECT count(*) FROM pg_locks AS l
     WHERE NOT granted AND mode = 'AccessExclusiveLock' AND relation = to_regclass(%s)
       AND NOT EXISTS (SELECT FROM pg_locks AS h JOIN pg_class AS c ON c.oid = h.relation
                        WHERE h.pid = l.pid AND h.granted AND h.mode = 'AccessExclusiveLock'
                          AND relname ~ '^(kombu|broker)_')"""


@pytest.fixture
def old(broker: Broker) -> Broker:
    """A database of the version before, with one queue and one message."""
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with closing(broker.connect()) as connection, connection:
        schema.upgrade(connection, to=BEFORE)
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main')")
    assert broker.value(PUBLISH, "one")
    return broker


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


@pytest.fixture
def reader(old: Broker, threads: ThreadPoolExecutor) -> Iterator[Any]:
    """A session whose transactions stay open; it ends before the threads, of which one may wait for it."""
    assert threads
    with closing(old.connect()) as connection:
        yield connection.cursor()


def upgrade(broker: Broker) -> int:
    with closing(broker.connect()) as connection, connection:
        return schema.upgrade(connection)


def publish(broker: Broker, task: str) -> Any:
    """In at most so many seconds: before, it waited for the end of the reader."""
    with closing(psycopg2.connect(broker.url, options="-c statement_timeout=30s")) as connection, connection:
        cursor = connection.cursor()
        cursor.execute(PUBLISH, (task,))
        return cursor.fetchone()[0]


def begun(broker: Broker, upgraded: Future[int], relation: str) -> None:
    wait_for(lambda: upgraded.done() or broker.value(WAITS, relation))


@pytest.mark.parametrize(
    "used", ["broker_dead_letter", "broker_group", "broker_node", "kombu_group", "kombu_node", "kombu_judgement"]
)
def test_who_has_used_any_of_it_goes_on_to_the_messages(
    old: Broker, reader: Any, threads: ThreadPoolExecutor, used: str
) -> None:
    reader.execute(f"SELECT * FROM {used}")
    upgraded = threads.submit(upgrade, old)
    begun(old, upgraded, used)
    for _ in range(20):  # in whatever moment of an attempt
        reader.execute("SELECT count(*) FROM broker_message WHERE task_id = 'one'")
        assert reader.fetchall() == [(1,)]
    reader.connection.commit()
    assert upgraded.result() == schema.VERSION
    assert old.query("SELECT task_id FROM broker_message WHERE is_ready") == [("one",)]


@pytest.mark.parametrize("used", ["broker_node", "broker_facts", "kombu_dead_letter", "kombu_message"])
def test_publishers_go_on_behind_a_reader_that_stays(
    old: Broker, reader: Any, threads: ThreadPoolExecutor, used: str
) -> None:
    reader.execute(f"SELECT * FROM {used}")
    upgraded = threads.submit(upgrade, old)
    begun(old, upgraded, used)
    assert publish(old, "two")
    assert not upgraded.done()
    reader.connection.commit()
    assert upgraded.result() == schema.VERSION
    assert old.value("SELECT count(*) FROM durable_ready") == 2


def test_at_last_it_gives_up_and_names_who_is_in_its_way(
    old: Broker, reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = schema._locks
    monkeypatch.setattr(schema, "_locks", lambda names: locks(names).replace("integer := 30", "integer := 2"))
    reader.execute("SELECT * FROM broker_group")
    with pytest.raises(psycopg2.errors.LockNotAvailable, match=r"broker_group was not to be had in 2 tries") as met:
        upgrade(old)
    assert str(reader.connection.info.backend_pid) in str(met.value)
    assert publish(old, "two")
    assert old.value("SELECT version FROM kombu_schema") == BEFORE


def test_a_table_that_is_vacuumed_is_waited_for_before_anything_is_taken(
    old: Broker, reader: Any, threads: ThreadPoolExecutor
) -> None:
    """The server ends its own vacuum for somebody who waits for a second."""
    reader.execute("LOCK TABLE kombu_message IN SHARE UPDATE EXCLUSIVE MODE")
    upgraded = threads.submit(upgrade, old)
    wait_for(lambda: old.value(WAITS_ALONE, "kombu_message"))
    reader.connection.commit()
    assert upgraded.result() == schema.VERSION


@pytest.mark.parametrize("patience", ["0", "7s"])
def test_it_leaves_the_callers_patience_as_it_was(old: Broker, patience: str) -> None:
    with closing(old.connect()) as connection, connection:
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = '{patience}'")
        schema.upgrade(connection)
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchall() == [(patience,)]


def test_all_that_the_steps_lock_is_taken_in_that_place(old: Broker) -> None:
    """Or somebody would wait in the middle of it: with all locks had, the rest takes none that conflicts."""
    held = """
        SELECT relation::regclass::text FROM pg_locks
         WHERE pid = pg_backend_pid() AND relation IS NOT NULL AND mode IN ('AccessExclusiveLock', 'ExclusiveLock',
               'ShareRowExclusiveLock', 'ShareLock', 'ShareUpdateExclusiveLock')
           AND relation::regclass::text !~ 'pg_toast' AND relation IN (SELECT oid FROM before)"""
    with closing(old.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TEMP TABLE before AS SELECT oid FROM pg_class WHERE relkind IN ('r', 'v')")
        connection.commit()
        schema.lock(connection, schema.REPLACED)
        cursor.execute(held)
        taken = {name for (name,) in cursor.fetchall()}
        assert taken == set(schema.REPLACED)
        connection.rollback()
        schema.upgrade(connection)
        cursor.execute(held)
        now = {name.replace("durable_message", "kombu_message").replace("durable_queue", "kombu_queue")
               for (name,) in cursor.fetchall()}  # fmt: skip
        assert now == taken
        connection.rollback()
