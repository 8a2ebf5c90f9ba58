"""The migration that gives webhook_deliveries a part for each month, beside those who write it (docs/adr/0094)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest
from alembic import command
from durable_harness.waiting import wait_for
from sqlalchemy import Connection, Engine, create_engine, pool, text

from app import migrate as migrating
from tests.contract.catalogs import schema_of
from tests.contract.conftest import ROOT
from tests.contract.migrating import migrated_to
from tests.databases import Databases

BEFORE, ROWS, WRITERS = "0064", 3_000, 3
VERSIONS = ROOT / "migrations" / "versions"
FILL = (
    "INSERT INTO users (id, email, created_at) SELECT md5(n::text)::uuid, n || '@example.org', now() FROM generate_series(1, 20) n",
    """INSERT INTO webhooks (id, user_id, url, description, events, secret, created_at)
       SELECT md5('hook ' || n)::uuid, md5(n::text)::uuid, 'https://example.org/', '', '{analysis.completed}', 'x', now()
         FROM generate_series(1, 20) n""",
    "INSERT INTO codebases (id, host, owner, name, created_at) VALUES (gen_random_uuid(), 'github.com', 'acme', 'shop', now())",
    """INSERT INTO webhook_deliveries (webhook_id, event_id, job_id, type, happened_at, status, due_at, body)
       SELECT md5('hook ' || 1 + n % 20)::uuid, -n, gen_random_uuid(), 'analysis.completed', now() - n * interval '12 min',
              CASE WHEN n % 50 = 0 THEN 'pending' ELSE 'delivered' END, CASE WHEN n % 50 = 0 THEN now() END, 'body ' || n
         FROM generate_series(1, :rows) n""",
)
#: As the end of a job: an event, of which the trigger makes a delivery.
FINISH = text("""
    WITH job AS (SELECT gen_random_uuid() AS id),
    request AS (
        INSERT INTO analysis_requests (job_id, user_id, codebase_id, commit_sha, role, trigger, queue, requested_at)
        SELECT job.id, md5(CAST(1 + floor(20 * random()) AS text))::uuid, c.id, 'c', 'payer', 'user', 'q', now()
          FROM job, codebases c RETURNING job_id)
    SELECT job_id FROM request""")
END = text("INSERT INTO job_events (job_id, event) VALUES (:job, 'completed')")
#: As a worker that delivers: the statement of the releases before, which names no time.
RECORD = text("""
    UPDATE webhook_deliveries SET status = 'delivered', due_at = NULL, attempts = attempts + 1
     WHERE id = (SELECT id FROM webhook_deliveries WHERE due_at IS NOT NULL ORDER BY id DESC LIMIT 1)""")
TOLD = """
    SELECT count(*) AS events, count(d.id) AS told, count(DISTINCT d.id) AS ids, min(d.id) AS least
      FROM job_events e LEFT JOIN webhook_deliveries d ON d.event_id = e.id"""
OLD = "SELECT md5(string_agg(concat_ws(',', id, webhook_id, event_id, message_id, happened_at, body), ';' ORDER BY id)) FROM webhook_deliveries WHERE event_id < 0"


@dataclass
class Writer:
    """Ends jobs and records attempts until it is told to stop.  longest: the seconds that one commit took at most."""

    engine: Engine
    over: Event
    jobs: int = 0
    longest: float = 0.0
    errors: list[BaseException] = field(default_factory=list)

    def run(self) -> None:
        with self.engine.connect() as connection:
            while not self.over.is_set():
                began = time.monotonic()
                job = connection.execute(FINISH).scalar_one()
                connection.execute(END, {"job": job})
                connection.commit()
                connection.execute(RECORD)
                connection.commit()
                self.jobs += 1
                self.longest = max(self.longest, time.monotonic() - began)


@pytest.fixture
def engine(databases: Databases) -> Iterator[Engine]:
    """A database of before, with deliveries of the last month."""
    with databases.new() as url:
        made = create_engine(url, poolclass=pool.NullPool)
        migrated_to(made, BEFORE)
        with made.begin() as connection:
            for statement in FILL:
                connection.execute(text(statement), {"rows": ROWS} if ":rows" in statement else {})
        yield made
        made.dispose()


def value(engine: Engine, query: str) -> object:
    with engine.connect() as connection:
        return connection.execute(text(query)).scalar_one()


@contextmanager
def writing(engine: Engine) -> Iterator[list[Writer]]:
    over = Event()
    writers = [Writer(engine, over) for _ in range(WRITERS)]
    with ThreadPoolExecutor(WRITERS) as threads:
        done: list[Future[None]] = [threads.submit(writer.run) for writer in writers]
        try:
            wait_for(
                lambda: any(one.done() for one in done) or all(one.jobs > 5 for one in writers), "writers to write"
            )
            yield writers
            reached = [one.jobs for one in writers]
            wait_for(
                lambda: (
                    any(one.done() for one in done)
                    or all(a.jobs > b + 5 for a, b in zip(writers, reached, strict=True))
                ),
                "writers to go on",
            )
        finally:
            over.set()
        for one in done:
            one.result(timeout=60)


@pytest.mark.proof
def test_a_filled_table_gets_its_parts_beside_writers_that_lose_nothing(engine: Engine) -> None:
    before = value(engine, OLD)
    with writing(engine) as writers:
        migrating.migrate(engine)
    assert value(engine, OLD) == before
    with engine.connect() as connection:
        found = connection.execute(text(TOLD)).one()
    assert found.events == found.told == found.ids == sum(one.jobs for one in writers)
    assert found.least > ROWS
    assert value(engine, "SELECT count(*) FROM webhook_deliveries_before") == ROWS + found.events
    assert max(one.longest for one in writers) < 10
    print(f"{found.events} jobs, longest wait {max(one.longest for one in writers):.3f} s")


def test_a_migration_that_was_interrupted_goes_on_where_it_was(engine: Engine) -> None:
    with engine.begin() as connection:
        execute(connection, "0065_bound.sql")
        connection.execute(
            text("CREATE UNIQUE INDEX webhook_deliveries_before_pkey ON webhook_deliveries (id, happened_at)")
        )
    migrating.migrate(engine)
    with engine.connect() as connection:
        found = schema_of(connection)
    down_and_up(engine)
    with engine.connect() as connection:
        assert schema_of(connection) == found


def test_a_bound_that_has_come_near_is_set_anew(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(
            text("""
                ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_before
                CHECK (happened_at < '2026-01-01 00:00:00+00') NOT VALID""")
        )
        execute(connection, "0065_bound.sql")
        execute(connection, "0065_bound.sql")
        rule = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'webhook_deliveries_before'"
        said = str(connection.execute(text(rule)).scalar_one())
        months = (
            "SELECT to_char(date_trunc('month', now(), 'UTC') AT TIME ZONE 'UTC' + interval '2 months', 'YYYY-MM-01')"
        )
        assert str(connection.execute(text(months)).scalar_one()) in said


def test_rights_on_the_table_are_those_of_before(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("GRANT SELECT ON webhook_deliveries TO pg_monitor"))
    migrating.migrate(engine)
    assert value(engine, "SELECT has_table_privilege('pg_monitor', 'webhook_deliveries', 'SELECT')")
    assert not value(engine, "SELECT has_table_privilege('pg_monitor', 'webhook_deliveries', 'DELETE')")


def test_going_back_keeps_what_was_delivered_and_the_next_id(engine: Engine) -> None:
    migrating.migrate(engine)
    before = value(engine, OLD)
    down_and_up(engine, back_to=BEFORE)
    assert value(engine, OLD) == before
    added = """
        INSERT INTO webhook_deliveries (webhook_id, type, happened_at, status)
        SELECT id, 'ping', now(), 'delivered' FROM webhooks LIMIT 1 RETURNING id"""
    with engine.begin() as connection:
        assert connection.execute(text(added)).scalar_one() == ROWS + 1


def down_and_up(engine: Engine, back_to: str = BEFORE) -> None:
    config = migrating._config()
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, back_to)
    migrating.migrate(engine)


def execute(connection: Connection, name: str) -> None:
    connection.exec_driver_sql(Path(VERSIONS / name).read_text(encoding="utf-8").replace("%", "%%"))
