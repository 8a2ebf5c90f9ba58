"""Fill our broker's tables with what is not measured, run a million jobs through them, and time the claim."""

import time
from itertools import repeat
from typing import Any

import psycopg2
from celery_durable.options import Options
from celery_durable.park import park
from celery_durable.queue_position import QueuePosition
from celery_durable.statements import statements
from celery_durable.template import send_many
from kombu import Consumer

from durable_bench.clients.celery_app import app, nothing
from durable_bench.clients.command import Missing, database, serve

QUEUE = "celery"
#: Groups of the fair order.
WAITING, FRESH = "waiting", "fresh"
DAY = 86_400
#: Messages of a claim that is timed: what a node of eight processes asks for when each of them is done once.
CLAIM = 8
#: Published, then consumed and acknowledged, before the next ones.
BATCH = 5_000
QUIET_SECONDS = 30.0
#: A message as publish stored it, many times over, as publish would have stored them one after the other.
COPY = """
    WITH sample AS (SELECT * FROM durable_message WHERE task_id = %(sample)s),
    made AS (
        INSERT INTO durable_message (payload, queue_id, task_id, tenant, step)
        SELECT replace(payload, task_id, fresh.id), queue_id, fresh.id, tenant, step
          FROM sample, (SELECT gen_random_uuid()::text AS id FROM generate_series(1, %(count)s)) AS fresh
        RETURNING id, queue_id, coalesce(tenant, '') AS tenant, step),
    numbered AS (SELECT *, row_number() OVER (ORDER BY id) AS n FROM made),
    ready AS (
        INSERT INTO durable_ready (id, queue_id, tenant, rank)
        SELECT m.id, m.queue_id, m.tenant, r.rank + m.n * m.step
          FROM numbered AS m, durable_ready AS r WHERE r.id = (SELECT id FROM sample))
    INSERT INTO durable_waiting (id, queue_id, tenant, reason, due_at)
    SELECT m.id, m.queue_id, m.tenant, w.reason, w.due_at + make_interval(secs => m.n * 1e-6)
      FROM numbered AS m, durable_waiting AS w WHERE w.id = (SELECT id FROM sample)"""
COUNT = "SELECT count(*) FROM durable_message WHERE tenant IS NOT DISTINCT FROM %s"


def _connect() -> Any:
    connection = psycopg2.connect(database())
    connection.autocommit = True
    return connection


def _raise_to(size: int, group: str | None, **options: Any) -> None:
    """Add to a group until it has so many."""
    with _connect() as connection, connection.cursor() as cursor:
        cursor.execute(COUNT, (group,))
        missing = size - cursor.fetchone()[0]
        if missing <= 0:
            return
        headers = None if group is None else {"tenant": group}
        sample = app.send_task(nothing.name, headers=headers, **options).id
        cursor.execute(COPY, {"sample": sample, "count": missing - 1})


def parked(size: int) -> None:
    """As park.py leaves them: the group is parked, and its messages come."""
    with psycopg2.connect(database()) as connection:
        park(connection, QUEUE, WAITING, seconds=DAY)
    _raise_to(size, WAITING)


def clear(_: int) -> None:
    """Take away what is left of the fresh ones."""
    with _connect() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM broker_message WHERE group_name = %s", (FRESH,))


def claims(count: int) -> float:
    """Claim and acknowledge `count` times, as a node does.  -> p99 seconds of a claim, without waiting for the disk."""
    sql, position, took = statements(Options(listen=False)), QueuePosition(), []
    cursor = _connect().cursor()
    cursor.execute("SET synchronous_commit = off")
    for _ in range(count):
        began, begin = time.monotonic(), position.begin()
        given = {"queue": QUEUE, "count": CLAIM, "owner": None, "lease": 60.0, "floor": begin, "sleep": 0}
        cursor.execute(sql.claim, given)
        rows = cursor.fetchall()
        took.append(time.monotonic() - began)
        if not rows:
            raise Missing("the queue ran empty while claims were timed")
        position.read(begin, [row[-1] for row in rows], CLAIM, began)
        given = {"done": [row[0] for row in rows], "done_tokens": [row[1] for row in rows], "careful": False}
        cursor.execute(sql.settle, {**given, "others": [], "tokens": [], "hows": []})
    return sorted(took)[int(count * 0.99)]


def finish(count: int) -> None:
    """Run so many jobs through: published, consumed by a plain consumer of kombu, acknowledged."""
    database_connection = psycopg2.connect(database())
    with app.connection() as connection, connection.channel() as channel:
        channel.basic_qos(0, 1_000)
        done: list[int] = []
        queue = app.amqp.queues[QUEUE]

        def acknowledge(message: Any) -> None:
            message.ack()
            done.append(1)

        with Consumer(channel, [queue], on_message=acknowledge):
            for start in range(0, count, BATCH):
                part = min(BATCH, count - start)
                with database_connection:
                    send_many(database_connection, app, nothing.name, list(repeat(((), {}), part)))
                while len(done) < start + part:
                    connection.drain_events(timeout=QUIET_SECONDS)


if __name__ == "__main__":
    serve({
        "grouped": lambda size: _raise_to(size, WAITING),
        "plain": lambda size: _raise_to(size, None),
        "delayed": lambda size: _raise_to(size, WAITING, countdown=DAY),
        "parked": parked,
        "fresh": lambda size: _raise_to(size, FRESH),
        "clear": clear,
        "claims": claims,
        "finish": finish,
    })  # fmt: skip
