"""A source by kombu's own consumer: RabbitMQ, SQS, pgmq, and every other transport but Redis.

What is taken stays unacknowledged there until it is settled.  A transport that keeps this in the memory of its process,
as `filesystem` and `memory` do, gives it back when it is closed, and loses it when the process is killed.
"""

from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import Any

from kombu import Connection, Consumer, Queue

from . import Received

#: How long `take` waits for a first message, and after each for one more.
WAIT_SECONDS = (1.0, 0.1)


class KombuSource:
    """Queues of a broker; they are neither declared nor changed.  most: messages in a batch."""

    def __init__(self, connection: Connection, queues: Sequence[str], most: int = 500) -> None:
        self._connection, self._most = connection, most
        self._got: list[Received] = []
        self._channel = connection.channel()
        self._channel.basic_qos(0, most, False)
        for name in queues:
            consumer = Consumer(self._channel, auto_declare=False, on_message=partial(self._take_in, name))
            consumer.add_queue(Queue(name))
            consumer.consume()

    def take(self) -> list[Received]:
        """Take what comes, up to a batch."""
        first, next_one = WAIT_SECONDS
        until = monotonic() + first
        while len(self._got) < self._most and (left := until - monotonic()) > 0:
            try:
                self._connection.drain_events(timeout=min(left, next_one) if self._got else left)
            except TimeoutError:
                break
            until = monotonic() + first
        got, self._got = self._got, []
        return got

    def settle(self, batch: list[Received]) -> None:
        """Acknowledge."""
        for one in batch:
            one.handle.ack()

    def give_back(self, batch: list[Received]) -> None:
        """Reject, to be delivered again."""
        for one in batch:
            one.handle.requeue()

    def _take_in(self, queue: str, message: Any) -> None:
        self._got.append(Received(queue, message, message))
