"""The sums of older bills are filled in while bills are written, changed and deleted, and are exact afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Event

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import Engine, create_engine, pool, text

from tests.contract.conftest import ROOT
from tests.contract.migrating import filled, migrated_to
from tests.databases import LOCK_WAITS, Databases

pytestmark = pytest.mark.proof

ROWS = 12_000  # three batches
BATCH = text((ROOT / "migrations" / "versions" / "0045_batch.sql").read_text(encoding="utf-8"))
WRONG = text("""
    WITH events AS (
        SELECT user_id, event_type, date_trunc('hour', accepted_at, 'UTC') AS hour_at, sum(quota_amount) AS amount
          FROM usage_events WHERE user_id IS NOT NULL GROUP BY 1, 2, 3)
    SELECT count(*) FROM events e FULL JOIN usage_sums s USING (user_id, event_type, hour_at)
     WHERE coalesce(e.amount, 0) <> coalesce(s.amount, 0)""")
CHANGES = (
    "UPDATE usage_events SET user_id = NULL, accepted_at = date_trunc('day', accepted_at) WHERE id = :id",
    "UPDATE usage_events SET accepted_at = accepted_at + interval '90 min' WHERE id = :id",
    "UPDATE usage_events SET quota_amount = quota_amount + 1 WHERE id = :id",
    "DELETE FROM usage_events WHERE id = :id",
    """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
       SELECT user_id, event_type, quota_amount, gen_random_uuid(), job_id, accepted_at, now() FROM usage_events
        WHERE id = :id""",
)


@pytest.fixture
def engine(databases: Databases) -> Iterator[Engine]:
    """A database with old bills and the trigger of 0046."""
    with databases.new() as url:
        made = create_engine(url, poolclass=pool.NullPool)
        migrated_to(made, "0037")
        filled(made, ROWS)
        migrated_to(made, "0044")
        yield made
        made.dispose()


def change(engine: Engine, statement: str, number: int) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement), {"id": number})


def wrong(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(WRONG).scalar_one())


def test_a_backfill_is_exact_while_other_sessions_change_what_it_sums_up(engine: Engine) -> None:
    over = Event()

    def write(seed: int) -> int:
        chance, changes = Random(seed), 0
        while not over.is_set() or changes < 50:
            change(engine, chance.choice(CHANGES), chance.randint(1, ROWS + 50))
            changes += 1
        return changes

    with ThreadPoolExecutor(3) as threads:
        writers = [threads.submit(write, seed) for seed in range(3)]
        try:
            migrated_to(engine, "0045")
        finally:
            over.set()
        assert all(writer.result() >= 50 for writer in writers)
    assert wrong(engine) == 0


def test_an_interrupted_backfill_continues_where_it_was(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(BATCH)
    with engine.connect() as connection:
        connection.execute(BATCH)  # and this one is lost
    for number in (1, 5_000, 5_001, ROWS):
        change(engine, CHANGES[1], number)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT done, upto FROM backfills")).one() == (5_000, ROWS)
    migrated_to(engine, "0045")
    assert wrong(engine) == 0


@pytest.mark.parametrize("change_first", [True, False])
def test_a_change_and_the_batch_of_its_bill_wait_for_each_other(engine: Engine, change_first: bool) -> None:
    first, second = (CHANGES[0], None) if change_first else (None, CHANGES[0])

    def run(connection: object, statement: str | None) -> None:
        connection.execute(text(statement) if statement else BATCH, {"id": 7} if statement else {})

    with engine.connect() as early, ThreadPoolExecutor(1) as thread:
        run(early, first)

        def late() -> None:
            with engine.begin() as connection:
                run(connection, second)

        done = thread.submit(late)

        def is_waiting() -> bool:
            with engine.connect() as looking:
                return bool(looking.execute(text(LOCK_WAITS)).scalar_one())

        wait_for(is_waiting, "the second one to wait for the first")
        early.commit()
        done.result(timeout=60)
    migrated_to(engine, "0045")
    assert wrong(engine) == 0
