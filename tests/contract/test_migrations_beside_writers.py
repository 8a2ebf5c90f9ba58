"""Migrations while others write: no write waits for an index, and an interrupted migration continues (docs/adr/0044)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from alembic import command
from durable_harness.waiting import wait_for
from sqlalchemy import Connection, Engine, create_engine, pool, text
from sqlalchemy.exc import OperationalError

from app import migrate as migrating
from tests.conftest import raw_connection
from tests.contract.catalogs import schema_of
from tests.contract.conftest import ROOT
from tests.contract.migrating import accept, filled, migrated_to
from tests.databases import LOCK_WAITS, Databases

pytestmark = pytest.mark.proof

#: An index that is being built waits for transactions that have written its table.
BUILDING = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'"""
#: Between two tries of a host that waits for another one.
ASKING = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'idle' AND query = 'COMMIT' AND application_name = 'fairlane cli'"""
INVALID = "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
#: As 0047 would be without CONCURRENTLY.
PLAIN = """
    CREATE INDEX analysis_requests_carried ON analysis_requests (job_id, carried_at DESC) WHERE carried_at IS NOT NULL"""


@pytest.fixture
def engine(databases: Databases) -> Iterator[Engine]:
    """A database of the release before, with some rows."""
    with databases.new() as url:
        made = create_engine(url, poolclass=pool.NullPool)
        migrated_to(made, "0037")
        filled(made, 2_000)
        yield made
        made.dispose()


def url_of(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def seen(engine: Engine, query: str) -> object:
    with raw_connection(url_of(engine)) as connection:
        return connection.execute(text(query)).scalar_one_or_none()


@contextmanager
def unfinished_write(engine: Engine) -> Iterator[Connection]:
    """A transaction that has written and does not end."""
    with raw_connection(url_of(engine)) as writer:
        accept(writer)
        yield writer


@contextmanager
def migrating_to(engine: Engine, revision: str) -> Iterator[Future[None]]:
    with ThreadPoolExecutor(1) as thread:
        yield thread.submit(migrated_to, engine, revision)


def test_an_index_that_is_being_built_lets_everybody_write(engine: Engine) -> None:
    migrated_to(engine, "0046")
    with unfinished_write(engine) as other, migrating_to(engine, "0047") as done:
        wait_for(lambda: done.done() or seen(engine, BUILDING), "the index to wait for the transaction")
        assert not done.done()
        with raw_connection(url_of(engine)) as writer:
            writer.execute(text("SET lock_timeout = '10s'"))
            for _ in range(20):
                accept(writer)
                writer.commit()
        assert not done.done()
        other.rollback()
        done.result(timeout=60)
    assert seen(engine, INVALID) is None


def test_the_plain_way_would_have_let_every_write_wait(engine: Engine) -> None:
    """The control of the test before."""
    with unfinished_write(engine) as other, ThreadPoolExecutor(1) as thread, raw_connection(url_of(engine)) as builder:
        built = thread.submit(builder.execute, text(PLAIN))
        wait_for(lambda: seen(engine, LOCK_WAITS), "the index to wait for the transaction")
        with raw_connection(url_of(engine)) as writer:
            writer.execute(text("SET lock_timeout = '300ms'"))
            with pytest.raises(OperationalError, match="lock timeout"):
                accept(writer)
        other.rollback()
        built.result(timeout=60)


def test_a_lock_that_is_not_to_be_had_stops_the_writers_for_a_second_at_most_and_is_tried_again(engine: Engine) -> None:
    """0038 adds columns to sessions, for which it must be alone with the table for a moment."""
    with raw_connection(url_of(engine)) as other, ThreadPoolExecutor(1) as thread:
        other.execute(text("UPDATE sessions SET expires_at = now()"))
        done = thread.submit(migrating.migrate, engine)
        for _ in range(2):
            wait_for(lambda: done.done() or seen(engine, LOCK_WAITS), "the migration to wait for the transaction")
            assert not done.done()
            with raw_connection(url_of(engine)) as writer:  # it queues up behind the migration, which gives up
                writer.execute(text("SET lock_timeout = '30s'"))
                writer.execute(text("SELECT count(*) FROM sessions"))
        other.rollback()
        assert done.result(timeout=120) == migrating.head_revision()


def test_a_migration_that_was_killed_in_the_middle_of_a_build_is_continued(engine: Engine, tmp_path: Path) -> None:
    migrated_to(engine, "0046")
    with unfinished_write(engine) as other:
        with migrating_by_command(engine, tmp_path) as process:
            wait_for(lambda: seen(engine, BUILDING), "the index to wait for the transaction")
            process.send_signal(signal.SIGKILL)
        end_builds(engine)
        assert seen(engine, INVALID) == "analysis_requests_carried"
        other.rollback()
    migrating.migrate(engine)
    assert_as_new(engine)


def test_a_second_migration_waits_for_the_build_that_a_killed_one_has_left_behind(
    engine: Engine, tmp_path: Path
) -> None:
    migrated_to(engine, "0046")
    with unfinished_write(engine) as other, ThreadPoolExecutor(1) as thread:
        with migrating_by_command(engine, tmp_path) as process:
            wait_for(lambda: seen(engine, BUILDING), "the index to wait for the transaction")
            process.send_signal(signal.SIGKILL)
        done = thread.submit(migrating.migrate, engine)
        other.rollback()
        assert done.result(timeout=120) == migrating.head_revision()
    assert_as_new(engine)


def test_two_hosts_that_migrate_at_once_do_not_stand_in_each_others_way(engine: Engine, tmp_path: Path) -> None:
    """The second waits without a snapshot, for which the index of the first would wait."""
    migrated_to(engine, "0046")
    with unfinished_write(engine) as other:
        with migrating_by_command(engine, tmp_path) as one, migrating_by_command(engine, tmp_path) as two:
            wait_for(lambda: seen(engine, BUILDING) and seen(engine, ASKING), "one host to build, the other to wait")
            other.rollback()
        assert (one.returncode, two.returncode) == (0, 0)
    assert seen(engine, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0


@contextmanager
def migrating_by_command(engine: Engine, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    env = os.environ | {"DATABASE_URL": url_of(engine), "FAIRLANE_HOME": str(home)}
    with subprocess.Popen([sys.executable, "-m", "app.cli", "migrate"], cwd=ROOT, env=env) as process:
        yield process


def end_builds(engine: Engine) -> None:
    """End the sessions as a restart of the server does."""
    end = """
        SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
         WHERE query LIKE 'CREATE INDEX CONC%' AND datname = current_database()"""
    with raw_connection(url_of(engine)) as connection:
        connection.execute(text(end))


def assert_as_new(engine: Engine) -> None:
    """A database that was migrated in one go has the same schema."""
    assert seen(engine, INVALID) is None
    with engine.connect() as connection:
        found = schema_of(connection)
    command.downgrade(_config(engine, connection := engine.connect()), "0037")
    connection.close()
    migrating.migrate(engine)
    with engine.connect() as connection:
        assert schema_of(connection) == found


def _config(engine: Engine, connection: Connection):
    config = migrating._config()
    config.attributes["connection"] = connection
    return config
