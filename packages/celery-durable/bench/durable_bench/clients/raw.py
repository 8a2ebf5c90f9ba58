"""The limit: processes that take one job each in a transaction, with SKIP LOCKED, and nothing else."""

import os
import select
import signal
import sys
from collections.abc import Callable, Iterable
from typing import Any

import psycopg2
from psycopg2.extras import execute_values

from durable_bench.clients import mark
from durable_bench.clients.command import WARM_UP, database, median_of_batches, serve, timed

TABLE = "CREATE TABLE jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sent float8)"
PUBLISH = "INSERT INTO jobs (sent) VALUES (%s); NOTIFY jobs"
PUBLISH_MANY = "INSERT INTO jobs (sent) VALUES %s"
FILL = "INSERT INTO jobs (sent) SELECT NULL FROM generate_series(1, %s)"
CLAIM = """
    DELETE FROM jobs WHERE id = (SELECT id FROM jobs ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING sent"""
#: The net below NOTIFY.
POLL_SECONDS = 5.0


def _connect() -> Any:
    connection = psycopg2.connect(database())
    connection.autocommit = True
    return connection


def _run(statement: str, *parameters: object) -> None:
    _connect().cursor().execute(statement, parameters or None)


def publish(count: int) -> float:
    """One a transaction."""
    cursor = _connect().cursor()

    def send(count: int) -> None:
        for _ in range(count):
            cursor.execute(PUBLISH, (None,))

    send(WARM_UP)
    return timed(lambda: send(count))


def many(count: int) -> float:
    """All in one transaction."""
    cursor = _connect().cursor()
    return median_of_batches(lambda: execute_values(cursor, PUBLISH_MANY, [(None,)] * count, page_size=count))


def paced(count: int) -> None:
    """One by one to an idle node, with pauses."""
    _stamped(mark.paced(count))


def _stamped(times: Iterable[float]) -> None:
    cursor = _connect().cursor()
    for now in times:
        cursor.execute(PUBLISH, (now,))


def node(processes: int) -> None:
    """Until SIGTERM."""
    children = [_fork(_work) for _ in range(processes)]

    def stop(*_: object) -> None:
        for child in children:
            os.kill(child, signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    for child in children:
        os.waitpid(child, 0)


def _fork(body: Callable[[], None]) -> int:
    if child := os.fork():
        return child
    body()
    os._exit(0)


def _work() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    connection = _connect()
    connection.cursor().execute("LISTEN jobs")
    connection.autocommit = False  # the row stays locked while the job runs: a dead process gives it back at once
    while True:
        while _take(connection):
            pass
        select.select([connection], [], [], POLL_SECONDS)
        connection.poll()
        connection.notifies.clear()


def _take(connection: Any) -> bool:
    with connection, connection.cursor() as cursor:
        cursor.execute(CLAIM)
        found = cursor.fetchone()
        if found and found[0]:
            mark.stamp(found[0])
        elif found:
            mark.nothing()
    return found is not None


if __name__ == "__main__":
    serve({
        "setup": lambda _: _run(TABLE),
        "publish": publish,
        "many": many,
        "fill": lambda count: _run(FILL, count),
        "paced": paced,
        "steady": lambda count: _stamped(mark.steady(count)),
        "node": node,
    })  # fmt: skip
