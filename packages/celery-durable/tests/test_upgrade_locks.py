"""The step to version 8 takes its locks together or not at all: nobody waits long behind it, and at last it gives up."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from celery_durable import schema
from celery_durable.upgrade_locks import REPLACED, locks
from durable_harness.broker import Broker
from durable_harness.postgres import PostgresServer
from durable_harness.waiting import wait_for

BEFORE = 7
PUBLISH = "SELECT kombu_message_publish('main', '{}', %s, NULL, NULL, NULL, 100, 'main')"
WAITS = """
    SELECT count(*) FROM pg_locks
     WHERE NOT granted AND mode = 'AccessExclusiveLock' AND relation = to_regclass(%s)"""
#: Whoever waits for an exclusive lock of the first one, and has none of those of the second.
WAITS_ALONE = """
    WITH seen AS MATERIALIZED (SELECT * FROM pg_locks)
    SELECT count(*) FROM seen AS l
     WHERE NOT granted AND mode = 'AccessExclusiveLock' AND relation = to_regclass(%s)
       AND NOT EXISTS (SELECT FROM seen AS h JOIN pg_class AS c ON c.oid = h.relation
                        WHERE h.pid = l.pid AND h.granted AND h.mode = 'AccessExclusiveLock'
                          AND relname ~ '^(kombu|broker)_')"""

#: Whoever waits for it and keeps nobody from writing.
WAITS_BESIDE = """
    SELECT count(*) FROM pg_locks
     WHERE NOT granted AND mode = 'ShareUpdateExclusiveLock' AND relation = to_regclass(%s)"""
VACUUMS = """
    SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS s USING (pid)
     WHERE backend_type = 'autovacuum worker' AND relation = 'kombu_message'::regclass"""


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
        cursor = connection.cursor()
        cursor.execute("SET deadlock_timeout = '1min'")  # the upgrade gives way, however slow it is
        connection.commit()
        yield cursor


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


@pytest.mark.proof
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


@pytest.mark.proof
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


@pytest.mark.proof
def test_at_last_it_gives_up_and_names_who_is_in_its_way(
    old: Broker, reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "locks", lambda names: locks(names).replace("'15 s'", "'1 s'"))
    reader.execute("SELECT * FROM broker_group")
    with pytest.raises(psycopg2.errors.LockNotAvailable, match=r"broker_group was not to be had in 00:00:01") as met:
        upgrade(old)
    assert str(reader.connection.info.backend_pid) in str(met.value)
    assert publish(old, "two")
    assert old.value("SELECT version FROM kombu_schema") == BEFORE


@pytest.mark.proof
def test_who_holds_a_table_as_a_vacuum_does_is_not_taken_for_the_server_s_own(
    old: Broker, reader: Any, threads: ThreadPoolExecutor
) -> None:
    """It does not end for somebody who waits, so nobody waits for it longer than for others."""
    reader.execute("LOCK TABLE kombu_message IN SHARE UPDATE EXCLUSIVE MODE")
    upgraded = threads.submit(upgrade, old)
    for _ in range(2):
        waits = wait_for(lambda: old.value(WAITS_ALONE, "kombu_message") * 2 or old.value(WAITS, "kombu_message"))
        assert waits == 1  # in an attempt for all of them
        wait_for(lambda: not old.value(WAITS, "kombu_message"))
    reader.connection.commit()
    assert upgraded.result() == schema.VERSION


@pytest.fixture
def vacuumed(tmp_path: Path) -> Iterator[Broker]:
    """The database of a role that may not see what others do, with messages that the server vacuums for minutes."""
    server = PostgresServer(autovacuum_naptime="1s", deadlock_timeout="5s")
    with ExitStack() as stack:
        stack.callback(server.remove)
        server.start()
        admin = Broker(server.url(), server, tmp_path, stack)
        admin.query("CREATE ROLE owner LOGIN; GRANT ALL ON SCHEMA public TO owner")
        owner = Broker(server.url().replace("//postgres@", "//owner@"), server, tmp_path, stack)
        with closing(owner.connect()) as connection, connection:
            schema.upgrade(connection, to=BEFORE)
        owner.query("INSERT INTO kombu_queue (name) VALUES ('main')")
        owner.query(
            "INSERT INTO kombu_message (payload, queue_id) SELECT repeat('x', 900), 1 FROM generate_series(1, 9000)"
        )
        owner.query("DELETE FROM kombu_message WHERE id > 1")
        owner.query("""ALTER TABLE kombu_message SET (autovacuum_vacuum_cost_delay = 100,
                       autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_threshold = 1)""")
        wait_for(lambda: admin.value(VACUUMS), "the server's own vacuum")
        yield owner


@pytest.mark.proof
def test_a_vacuum_that_the_server_began_ends_for_the_upgrade(vacuumed: Broker, threads: ThreadPoolExecutor) -> None:
    upgraded = threads.submit(upgrade, vacuumed)
    assert wait_for(lambda: vacuumed.value(WAITS_BESIDE, "kombu_message") or upgraded.done() * 2) == 1
    assert publish(vacuumed, "beside")
    assert upgraded.result() == schema.VERSION
    assert vacuumed.value("SELECT count(*) FROM durable_ready WHERE tenant = ''") == 2


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
        schema.lock(connection, REPLACED)
        cursor.execute(held)
        taken = {name for (name,) in cursor.fetchall()}
        assert taken == set(REPLACED)
        connection.rollback()
        schema.upgrade(connection)
        cursor.execute(held)
        now = {name.replace("durable_message", "kombu_message").replace("durable_queue", "kombu_queue")
               for (name,) in cursor.fetchall()}  # fmt: skip
        assert now == taken
        connection.rollback()
