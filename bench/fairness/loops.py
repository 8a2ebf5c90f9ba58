"""Raw loops to compare with: a table of jobs, processes that take one at a time, and one line that orders them."""

import contextlib
import multiprocessing
import time
from collections.abc import Iterator
from typing import Any

import psycopg2

TABLE = """
    CREATE TABLE loop_jobs (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id text NOT NULL, seconds float8 NOT NULL,
        state text NOT NULL DEFAULT 'ready', submitted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        started_at timestamptz, ended_at timestamptz);
    CREATE INDEX ON loop_jobs (user_id, id) WHERE state = 'ready';
    CREATE INDEX ON loop_jobs (id) WHERE state = 'ready';
    CREATE INDEX ON loop_jobs (user_id) WHERE state = 'running';
    CREATE TABLE loop_turns (user_id text PRIMARY KEY, at timestamptz)"""
#: The first ready job of each user, by a walk from user to user along the index.
HEADS = """
    WITH RECURSIVE heads AS (
        (SELECT id, user_id FROM loop_jobs WHERE state = 'ready' ORDER BY user_id, id LIMIT 1)
        UNION ALL
        SELECT n.id, n.user_id FROM heads, LATERAL (
            SELECT id, user_id FROM loop_jobs WHERE state = 'ready' AND user_id > heads.user_id
             ORDER BY user_id, id LIMIT 1) AS n)"""
ORDERS = {
    "first in, first out": "SELECT id FROM loop_jobs WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
    "round robin": f"""{HEADS}
        SELECT h.id FROM heads AS h LEFT JOIN loop_turns AS t USING (user_id)
         ORDER BY t.at NULLS FIRST, h.id LIMIT 1""",
    "fewest running first": f"""{HEADS}
        SELECT h.id FROM heads AS h ORDER BY (
            SELECT count(*) FROM loop_jobs AS r WHERE r.state = 'running' AND r.user_id = h.user_id), h.id LIMIT 1""",
}
TAKE = """
    UPDATE loop_jobs SET state = 'running', started_at = clock_timestamp()
     WHERE id = ({order}) AND state = 'ready' RETURNING id, user_id, seconds"""
TURN = """
    INSERT INTO loop_turns VALUES (%s, clock_timestamp()) ON CONFLICT (user_id) DO UPDATE SET at = excluded.at"""
IDLE_SECONDS = 0.002


def publish(url: str, user_id: str, seconds: float, count: int) -> None:
    """Add jobs, each with the time it came."""
    with contextlib.closing(psycopg2.connect(plain(url))) as connection, connection, connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO loop_jobs (user_id, seconds) SELECT %s, %s FROM generate_series(1, %s)",
            (user_id, seconds, count),
        )


def execute(url: str, statements: str) -> None:
    """In one transaction."""
    with contextlib.closing(psycopg2.connect(plain(url))) as connection, connection, connection.cursor() as cursor:
        cursor.execute(statements)


def query(url: str, statement: str) -> list[tuple[Any, ...]]:
    """What a query finds."""
    with contextlib.closing(psycopg2.connect(plain(url))) as connection, connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


@contextlib.contextmanager
def loops(url: str, order: str, processes: int) -> Iterator[None]:
    """Processes at work."""
    fork = multiprocessing.get_context("fork")
    running = [fork.Process(target=_work, args=(plain(url), order), daemon=True) for _ in range(processes)]
    for process in running:
        process.start()
    try:
        yield
    finally:
        for process in running:
            process.terminate()
            process.join()


def _work(url: str, order: str) -> None:
    connection = psycopg2.connect(url)
    connection.autocommit = True
    cursor = connection.cursor()
    while True:
        cursor.execute(TAKE.format(order=ORDERS[order]))
        if (job := cursor.fetchone()) is None:
            time.sleep(IDLE_SECONDS)  # nothing there, or somebody was quicker
            continue
        job_id, user_id, seconds = job
        if order == "round robin":
            cursor.execute(TURN, (user_id,))
        time.sleep(seconds)
        cursor.execute("UPDATE loop_jobs SET state = 'done', ended_at = clock_timestamp() WHERE id = %s", (job_id,))


def plain(url: str) -> str:
    """As libpq spells it."""
    return url.replace("+psycopg2", "")
