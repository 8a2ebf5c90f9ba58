"""The migration of the broker's narrow tables and back: who may do what is as before, and nobody waits for long."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import Engine, create_engine, pool, text

from tests.contract.test_migrations import run
from tests.databases import Databases

#: To roles that each server has: another one would be there for all tests at once.
GRANTS = """
    GRANT SELECT (id, task_id), UPDATE (rank_step) ON kombu_message TO pg_monitor;
    GRANT SELECT ON broker_message, broker_node TO pg_monitor WITH GRANT OPTION;
    GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON kombu_message, kombu_group, kombu_node TO pg_checkpoint;
    GRANT SELECT, UPDATE ON kombu_queue, kombu_judgement TO pg_checkpoint;
    GRANT UPDATE (started_at), DELETE ON broker_message TO pg_checkpoint;
    GRANT SELECT ON kombu_schema TO PUBLIC;
    GRANT EXECUTE ON FUNCTION kombu_message_publish, kombu_queue_add TO pg_signal_backend;
    GRANT EXECUTE ON FUNCTION kombu_message_publish, kombu_message_publish_many, kombu_message_in_the_way,
        kombu_queue_add, kombu_queue_exists, kombu_queue_size TO pg_checkpoint, pg_read_all_stats;
    GRANT INSERT, TRUNCATE ON kombu_message TO pg_read_all_stats;
    GRANT SELECT, DELETE ON kombu_message, broker_message TO pg_read_all_settings;
    REVOKE EXECUTE ON FUNCTION broker_pause FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION broker_pause TO pg_checkpoint"""
RIGHTS = """
    SELECT relname::text, '' AS part, a.grantee::regrole::text, privilege_type, is_grantable
      FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) AS a
     WHERE relnamespace = 'public'::regnamespace AND relname ~ '^(kombu|broker|durable)_' AND grantee <> relowner
    UNION ALL
    SELECT relname, attname, a.grantee::regrole::text, privilege_type, is_grantable
      FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid CROSS JOIN LATERAL aclexplode(attacl) AS a
     WHERE relnamespace = 'public'::regnamespace AND relname ~ '^(kombu|broker|durable)_' AND grantee <> relowner
    UNION ALL
    SELECT oid::regprocedure::text, '', grantee::regrole::text, privilege_type, is_grantable
      FROM pg_proc CROSS JOIN LATERAL aclexplode(coalesce(proacl, acldefault('f', proowner)))
     WHERE pronamespace = 'public'::regnamespace AND proname ~ '^(kombu|broker|durable)_' AND grantee <> proowner
     ORDER BY 1, 2, 3, 4"""
WAITS = """
    SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'
       AND relation = to_regclass('broker_group')
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


@pytest.fixture
def engine(databases: Databases) -> Iterator[Engine]:
    with databases.new() as url:
        made = create_engine(url, poolclass=pool.NullPool)
        run(made, "upgrade", "0054")
        rows(made, GRANTS, "SELECT kombu_queue_add('main')")
        yield made
        made.dispose()


def rows(engine: Engine, *statements: str) -> list[tuple[Any, ...]]:
    with engine.begin() as connection:
        for statement in statements:
            found = connection.execute(text(statement))
        return [tuple(row) for row in found] if found.returns_rows else []


def test_all_rights_come_back(engine: Engine) -> None:
    before = rows(engine, RIGHTS)
    run(engine, "upgrade", "0055")
    assert rows(engine, RIGHTS) != before
    run(engine, "downgrade", "-1")
    now = rows(engine, RIGHTS)
    assert (set(now) - set(before), set(before) - set(now)) == (set(), set())


@pytest.mark.proof
def test_rights_of_the_new_names_are_those_of_the_old_ones_on_the_way_back(engine: Engine) -> None:
    run(engine, "upgrade", "0055")
    rows(engine, """
        GRANT SELECT, INSERT, UPDATE ON durable_message, durable_queue TO pg_read_all_settings;
        GRANT EXECUTE ON FUNCTION durable_publish TO pg_read_all_settings""")  # fmt: skip
    run(engine, "downgrade", "-1")
    assert rows(engine, """
        SELECT has_table_privilege('pg_read_all_settings', 'kombu_queue', 'INSERT'),
               has_function_privilege('pg_read_all_settings', (
                   SELECT oid FROM pg_proc WHERE proname = 'kombu_message_publish'), 'EXECUTE')""") == [(True, True)]  # fmt: skip


@pytest.mark.proof
def test_it_is_taken_back_where_the_names_of_before_were_dropped(engine: Engine) -> None:
    run(engine, "upgrade", "0055")
    rows(engine, "SELECT durable_publish('main', '{}', 'one', NULL, NULL, NULL, 100, 'main')")
    rows(engine, "DROP VIEW kombu_message, kombu_queue")
    run(engine, "downgrade", "-1")
    assert rows(engine, "SELECT task_id, visible FROM kombu_message") == [("one", True)]


@pytest.mark.proof
@pytest.mark.parametrize(("action", "target", "publish"), [
    ("upgrade", "0055", "kombu_message_publish"), ("downgrade", "-1", "durable_publish"),
])  # fmt: skip
def test_publishers_go_on_behind_a_reader_that_stays(engine: Engine, action: str, target: str, publish: str) -> None:
    if action == "downgrade":
        run(engine, "upgrade", "0055")
    with ThreadPoolExecutor(1) as threads, engine.connect() as reader:
        reader.execute(text("SELECT FROM broker_group"))
        done = threads.submit(run, engine, action, target)
        wait_for(lambda: done.done() or rows(engine, WAITS)[0][0])
        patient = "SET LOCAL statement_timeout = '30s'"
        assert rows(engine, patient, f"SELECT {publish}('main', '{{}}', 'one', NULL, NULL, NULL, 100, 'main') > 0") == [
            (True,)
        ]
        assert not done.done()
        reader.rollback()
        done.result()
    assert rows(engine, "SELECT count(*) FROM broker_message") == [(1,)]
