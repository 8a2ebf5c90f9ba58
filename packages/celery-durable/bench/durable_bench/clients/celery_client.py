"""Publish with Celery, whatever the broker."""

from collections.abc import Callable
from itertools import repeat
from typing import Any
from uuid import uuid4

import psycopg2
from celery import Celery

from durable_bench.clients import mark
from durable_bench.clients.celery_app import URL, app, hold, nothing, stamp
from durable_bench.clients.command import BATCHES, WARM_UP, database, median_of_batches, serve, timed

DAY = 86_400
#: One message as Celery made it, many times over, each with an id of its own: in the table of kombu's own transport.
COPY_STOCK = """
    INSERT INTO kombu_message (visible, timestamp, version, queue_id, id, payload)
    SELECT visible, timestamp, version, queue_id, nextval('message_id_sequence'), replace(payload, %(sample)s, fresh.id)
      FROM kombu_message, (SELECT gen_random_uuid()::text AS id FROM generate_series(1, %(count)s)) AS fresh"""
#: As plain as the rows of a message of ours can be, in all their indexes.
INSERT = """
    WITH made AS (
        INSERT INTO durable_message (payload, queue_id, task_id)
        VALUES (%(payload)s, %(queue_id)s, %(task_id)s) RETURNING id, queue_id)
    INSERT INTO durable_ready (id, queue_id, tenant, rank)
    SELECT id, queue_id, '', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM made"""
#: The same for many: two INSERTs of rows that are there, and nothing that a queue needs.
INSERT_MANY = """
    WITH given AS MATERIALIZED (
        SELECT nextval('message_id_sequence') AS id, payload, task_id, place
          FROM unnest(string_to_array(%(payloads)s, E'\\n'), %(task_ids)s::text[]) WITH ORDINALITY
               AS g (payload, task_id, place)),
    made AS (INSERT INTO durable_message (id, payload, queue_id, task_id)
             SELECT id, payload, %(queue_id)s, task_id FROM given)
    INSERT INTO durable_ready (id, queue_id, tenant, rank)
    SELECT id, %(queue_id)s, '', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + place * 100 FROM given"""


def setup(_: int) -> None:
    """Make the tables that the transport needs."""
    if URL.startswith("durable"):
        from celery_durable import schema  # noqa: PLC0415  ours alone needs it

        with psycopg2.connect(database()) as connection:
            schema.upgrade(connection)
    elif URL.startswith("pgmq"):
        from pgmq.install import install_pgmq_from_sql  # noqa: PLC0415  of the peers

        install_pgmq_from_sql(dsn=database())
    with app.producer_or_acquire() as producer:  # makes stock's
        producer.maybe_declare(app.amqp.default_queue)


def empty(_: int) -> None:
    """Drop what waits in the queue."""
    with app.connection_or_acquire() as connection:
        queue = app.amqp.default_queue(connection.default_channel)
        queue.declare()
        queue.purge()


def publish(count: int) -> float:
    """Each message durable, as far as the broker makes it so, before the next."""
    with app.producer_or_acquire() as producer:
        for _ in range(WARM_UP):
            app.send_task(nothing.name, producer=producer)
        return timed(lambda: _send(count, producer))


def bound(count: int) -> float:
    """What `publish` cannot beat: Celery builds each message, and a plain INSERT stores and commits such a row."""
    connection = psycopg2.connect(database())
    connection.autocommit = True
    cursor = connection.cursor()
    payload, queue_id = _sample(cursor)
    memory = Celery("memory", broker="memory://")

    def send(count: int) -> None:
        for _ in range(count):
            task_id = memory.send_task(nothing.name, producer=producer).id
            cursor.execute(INSERT, {"payload": payload, "queue_id": queue_id, "task_id": task_id})

    with memory.producer_or_acquire() as producer:
        send(WARM_UP)
        return timed(lambda: send(count))


def bound_many(count: int) -> float:
    """What `many` cannot beat: plain INSERTs of the same rows, which nobody has to build.  -> as `joined`."""

    def send(connection: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(INSERT_MANY, {**given, "task_ids": f"{{{','.join(task_ids.pop())}}}"})

    task_ids = [[str(uuid4()) for _ in range(count)] for _ in range(BATCHES + 1)]
    with psycopg2.connect(database()) as connection:
        payload, queue_id = _sample(connection.cursor())
    given = {"payloads": "\n".join([payload] * count), "queue_id": queue_id}
    return _batches(send)


def _sample(cursor: Any) -> tuple[str, int]:
    """-> a payload as Celery makes it, and the id of its queue."""
    from celery_durable.publish import TransactionProducer  # noqa: PLC0415  ours alone needs it

    letters: list[Any] = []
    app.send_task(nothing.name, producer=TransactionProducer(letters.extend))
    cursor.execute("SELECT id FROM durable_queue WHERE name = %s", (letters[0].queue,))
    return letters[0].payload, cursor.fetchone()[0]


def fill(count: int) -> None:
    """As fast as it goes, not timed."""
    _fill(count)


def delay(count: int) -> None:
    """As fill, due in a day."""
    _fill(count, countdown=DAY)


def _fill(count: int, **options: Any) -> None:
    with app.producer_or_acquire() as producer:
        if "postgresql" not in URL:
            return _send(count, producer, **options)
        sample = app.send_task(nothing.name, producer=producer, **options).id
    with psycopg2.connect(database()) as connection, connection.cursor() as cursor:
        copy = COPY_STOCK
        if URL.startswith("durable"):
            from durable_bench.clients.backlog import COPY as copy  # noqa: N811, PLC0415  ours alone needs it
        cursor.execute(copy, {"sample": sample, "count": count - 1})
    return None


def paced(count: int) -> None:
    """One by one to an idle node, with pauses."""
    with app.producer_or_acquire() as producer:
        for now in mark.paced(count):
            app.send_task(stamp.name, args=(now,), producer=producer)


def steady(count: int) -> None:
    """At a constant rate."""
    with app.producer_or_acquire() as producer:
        for now in mark.steady(count):
            app.send_task(stamp.name, args=(now,), producer=producer)


def occupy(count: int) -> None:
    """Jobs that stay busy until they are released."""
    with app.producer_or_acquire() as producer:
        for _ in range(count):
            app.send_task(hold.name, args=(uuid4().hex,), producer=producer)


def joined(count: int) -> float:
    """`count` messages in the caller's transaction, its commit included.  -> median seconds of a batch."""
    from celery_durable.publish import producer_in  # noqa: PLC0415  ours alone needs it

    return _batches(lambda connection: _send(count, producer_in(connection)))


def bulk(count: int) -> float:
    """As `joined`, all messages in one statement, each built by Celery."""
    from celery_durable.publish import producer_in  # noqa: PLC0415  ours alone needs it

    def send(connection: Any) -> None:
        producer = producer_in(connection)
        with producer.batch():
            _send(count, producer)

    return _batches(send)


def many(count: int) -> float:
    """As `bulk`, built by the batch call."""
    from celery_durable.template import send_many  # noqa: PLC0415  ours alone needs it

    return _batches(lambda connection: send_many(connection, app, nothing.name, list(repeat(((), {}), count))))


def _batches(send: Callable[[Any], object]) -> float:
    connection = psycopg2.connect(database())

    def in_transaction() -> None:
        with connection:
            send(connection)

    return median_of_batches(in_transaction)


def _send(count: int, producer: Any, **options: Any) -> None:
    for _ in range(count):
        app.send_task(nothing.name, producer=producer, **options)


if __name__ == "__main__":
    common = {"setup": setup, "empty": empty, "publish": publish, "fill": fill, "paced": paced}
    common |= {"delay": delay, "steady": steady, "hold": occupy}
    serve(
        {**common, "bound": bound, "bound_many": bound_many, "joined": joined, "bulk": bulk, "many": many}
        if URL.startswith("durable")
        else common
    )
