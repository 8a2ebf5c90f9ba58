"""A source by kombu's own consumer: RabbitMQ, SQS, pgmq, and every other transport but Redis.

What is taken stays unacknowledged there until it is settled.  A transport that keeps this in the memory of its process,
as `filesystem` and `memory` do, gives it back when it is closed, and loses it when the process is killed.
"""

from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import Any

from kombu import Connection, Consumer, Queue
from kombu.transport import virtual

from celery_durable.database import runner

from . import Received
from .one_run import RECEIVING

#: How long `take` waits for a first message, and after each for one more.
WAIT_SECONDS = (1.0, 0.1)
#: Whether this database has the session of a run of `receive`, and the schema has what this source reads as messages.
#: With leases: a table of kombu's own may have a name there that is none of the broker's.
_OWN = f"""
    SELECT EXISTS (SELECT FROM pg_locks
                    WHERE pid = %(backend)s AND locktype = 'advisory'
                      AND classid = (hashtext('{RECEIVING}')::bigint & 4294967295)::oid
                      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
       AND EXISTS (SELECT FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
                    WHERE c.oid = to_regclass(%(table)s) AND c.relnamespace = %(schema)s
                      AND a.attname = 'lease_token')"""


class KombuSource:
    """Queues of a broker; they are neither declared nor changed.  most: messages in a batch."""

    def __init__(self, connection: Connection, queues: Sequence[str], most: int = 500) -> None:
        self._connection, self.queues, self._most = connection, queues, most
        self.name = (
            f"{connection.transport.driver_name} {connection.hostname}:{connection.port}/{connection.virtual_host}"
        )
        self._got: list[Received] = []
        self._kept = self._window = 0  # messages that were taken and not settled; what the broker may send unsettled
        self._channel = connection.channel()
        self._consumers = [self._consumer(name) for name in queues]

    def take(self) -> list[Received]:
        """Take what comes, up to a batch."""
        self._open_window()
        first, next_one = WAIT_SECONDS
        until = monotonic() + first
        while len(self._got) < self._most and (left := until - monotonic()) > 0:
            try:
                self._connection.drain_events(timeout=min(left, next_one) if self._got else left)
            except TimeoutError:
                break
            until = monotonic() + first
        got, self._got = self._got[: self._most], self._got[self._most :]
        self._kept += len(got)
        return got

    def settle(self, batch: list[Received]) -> None:
        """Acknowledge."""
        for one in batch:
            one.handle.ack()
        self._kept -= len(batch)

    def give_back(self, batch: list[Received]) -> None:
        """Reject, to be delivered again."""
        for one in batch:
            one.handle.requeue()

    def left(self) -> dict[str, int]:
        """Nothing: the broker gives back what is not acknowledged."""
        return {}

    def is_own(self, backend: int, schema: int) -> bool:
        """Whether the messages here are those of the broker in this schema, in the database that this backend serves.

        The backend holds a lock that other sessions of its database see, however their addresses are written.
        """
        if self._connection.transport.driver_type != "sql":
            return False
        session = self._channel.session
        if session.bind.dialect.name != "postgresql":
            return False
        driver = session.connection().connection.dbapi_connection
        given = {"backend": backend, "schema": schema, "table": self._channel.message_tablename}
        [(is_own,)] = runner(driver)(_OWN, given)
        session.rollback()
        return bool(is_own)

    def _consumer(self, name: str) -> Consumer:
        consumer = Consumer(self._channel, auto_declare=False, on_message=partial(self._take_in, name))
        consumer.add_queue(Queue(name))
        return consumer

    def _open_window(self) -> None:
        """Have room for a batch besides what was refused, which stays unacknowledged until the end."""
        if self._window == self._most + self._kept:
            return
        is_first, self._window = not self._window, self._most + self._kept
        self._channel.basic_qos(0, self._window, False)
        if is_first or not isinstance(self._channel, virtual.Channel):  # RabbitMQ heeds it for new consumers only
            for consumer in self._consumers:
                consumer.cancel()
                consumer.consume()

    def _take_in(self, queue: str, message: Any) -> None:
        self._got.append(Received(queue, message, message))
