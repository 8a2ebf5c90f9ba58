"""What limits cost, and which rates they reach: `python -m durable_bench.limits rates|cost [--seconds N]`.

It has a server of its own, with fsync.  `rates`: two workers of two processes, and more that arrive at once than they
may run: the starts of the first seconds, while these go into the line, and of those after.
`cost`: microseconds of the server's process for a message that is claimed and acknowledged, in blocks that take turns:
without limits, with a limit that nothing reaches, and with one that all have to wait for.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg2
from celery_durable import schema
from durable_harness.postgres import PostgresServer

from durable_bench.trees import cpu_seconds

TASK = "durable_harness.worker_app.nothing"
PAYLOAD = (
    '{"body": "W1tdLCB7fSwge31d", "headers": {"task": "%s", "id": "x", "lang": "py"}, "properties": {"priority": 0,'
    ' "body_encoding": "base64"}, "content-type": "application/json", "content-encoding": "utf-8"}'
)
STARTS = """
    CREATE TABLE starts (at timestamptz);
    CREATE FUNCTION note_start() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO starts VALUES (NEW.until - interval '15 s'); RETURN NULL; END $$;
    CREATE TRIGGER note AFTER INSERT ON durable_lease FOR EACH ROW EXECUTE FUNCTION note_start()"""
FILL = """
    SELECT count(*) FROM durable_publish_many(
        array_fill(%(queue)s::text, ARRAY[%(n)s]),
        ARRAY(SELECT replace(%(body)s, '"x"', '"' || gen_random_uuid() || '"') FROM generate_series(1, %(n)s)),
        ARRAY(SELECT gen_random_uuid()::text FROM generate_series(1, %(n)s)),
        ARRAY(SELECT 'tenant' || n %% 10 FROM generate_series(1, %(n)s) AS n),
        array_fill(NULL::text, ARRAY[%(n)s]), array_fill(NULL::float8, ARRAY[%(n)s]), array_fill(100, ARRAY[%(n)s]))"""
RATES = tuple((rate, burst) for rate in (10, 100, 1000) for burst in (1, 5, 100))
FIRST_SECONDS = 5.0
BLOCK, ROUNDS = 400, 20
#: What most starts in any second, beyond the rate, tell of the burst.
WINDOW = """
    SELECT max(many) FROM (SELECT count(*) OVER (ORDER BY at RANGE BETWEEN CURRENT ROW AND interval '1 s' FOLLOWING)
                             AS many FROM starts) AS windows"""


def main() -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(prog="python -m durable_bench.limits", description=__doc__)
    parser.add_argument("what", choices=["rates", "cost"])
    parser.add_argument("--seconds", type=float, default=15.0, help="of each rate")
    given = parser.parse_args()
    server = PostgresServer(fsync="on")
    try:
        server.start()
        with closing(psycopg2.connect(server.url())) as connection:
            schema.upgrade(connection)
            connection.commit()
            connection.autocommit = True
            sql = connection.cursor()
            if given.what == "rates":
                sql.execute(STARTS)
                for rate, burst in RATES:
                    _rate(server.url(), sql, rate, burst, given.seconds)
            else:
                _cost(sql)
    finally:
        server.remove()


def _rate(url: str, sql: Any, rate: int, burst: int, seconds: float) -> None:
    sql.execute(
        "TRUNCATE durable_message, durable_ready, durable_waiting, durable_lease, durable_line, kombu_node, starts"
    )
    sql.execute("SELECT durable_queue_add('main')")
    sql.execute("SELECT broker_limit('main', %s, task => %s, burst => %s)", (f"{rate}/s", TASK, burst))
    with _workers(url):
        number = int(rate * (seconds + FIRST_SECONDS) * 1.5) + burst
        sql.execute(FILL, {"queue": "main", "body": PAYLOAD % TASK, "n": number})
        began = time.monotonic()  # of what is ready then, most was woken
        while sql.execute("SELECT 1 FROM durable_ready OFFSET 200 LIMIT 1") or sql.fetchone():
            time.sleep(0.05)  # between two looks
        moved = time.monotonic() - began
        time.sleep(max(0.0, FIRST_SECONDS - moved))  # what starts in this time is counted
        sql.execute("SELECT count(*) FROM starts")
        [(first,)] = sql.fetchall()
        early = (first - burst) / (time.monotonic() - began)
        sql.execute("TRUNCATE starts")
        time.sleep(seconds)  # and in this
        sql.execute("SELECT count(*), extract(epoch FROM clock_timestamp() - min(at))::float8 FROM starts")
        [(number, took)] = sql.fetchall()
        sql.execute(WINDOW)
        [(most,)] = sql.fetchall()
    reached = number / took
    print(f"{rate}/s, burst {burst}: {reached:.1f}/s, {reached / rate:.3f}; in a second at most {most};"
          f" at first, without the burst, {early:.1f}/s, {early / rate:.3f}; moved to the line in {moved:.1f} s",
          flush=True)  # fmt: skip


@contextmanager
def _workers(url: str, number: int = 2) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for one in range(number):
            with (Path(folder) / f"{one}.log").open("w") as log:
                command = [sys.executable, "-m", "celery", "-A", "durable_harness.worker_app", "worker", "-c", "2",
                           "-n", f"n{one}@bench", "-l", "warning", "--without-gossip", "--without-mingle"]  # fmt: skip
                environment = os.environ | {"BROKER_TEST_URL": url}
                processes.append(
                    subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
                )
        try:
            with closing(psycopg2.connect(url)) as connection, connection.cursor() as sql:
                connection.autocommit = True
                while True:
                    sql.execute("SELECT count(queues) FROM kombu_node")
                    if sql.fetchone() == (number,):
                        break
                    time.sleep(0.1)  # between two looks
            yield
        finally:
            for process in processes:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _cost(sql: Any) -> None:
    """The three queues in turns, so that whatever else the machine does falls on all of them."""
    pid = sql.connection.info.backend_pid
    queues = {"without": None, "within": "10000/s", "over": "10000/s"}
    for queue, rate in queues.items():
        sql.execute("SELECT durable_queue_add(%s)", (queue,))
        if rate:
            burst = 10_000 if queue == "within" else 1
            sql.execute("SELECT broker_limit(%s, %s, task => %s, burst => %s)", (queue, rate, TASK, burst))
    for most in (1, 8, 64):
        took: dict[str, list[float]] = {queue: [] for queue in queues}
        for _ in range(ROUNDS):
            for queue, found in took.items():
                sql.execute(FILL, {"queue": queue, "body": PAYLOAD % TASK, "n": BLOCK})
                before = cpu_seconds([pid])
                _drain(sql, queue, most)
                found.append((cpu_seconds([pid]) - before) / BLOCK * 1e6)
        medians = {queue: statistics.median(found) for queue, found in took.items()}
        figures = ", ".join(f"{queue} {each:.0f} us" for queue, each in medians.items())
        print(f"{most} at a time: {figures}", flush=True)


def _drain(sql: Any, queue: str, most: int) -> None:
    left = BLOCK
    while left:
        sql.execute("SELECT message_id, token FROM durable_claim(%s, %s, NULL, 900, 0, 0) WHERE message_id IS NOT NULL",
                    (queue, most))  # fmt: skip
        if rows := sql.fetchall():
            sql.execute("SELECT durable_settle(%s, %s::uuid[], '{}', '{}', '{}', false)",
                        ([row[0] for row in rows], [row[1] for row in rows]))  # fmt: skip
            left -= len(rows)


if __name__ == "__main__":
    main()
