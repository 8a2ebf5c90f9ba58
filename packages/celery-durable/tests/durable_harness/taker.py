"""A plain kombu consumer in this process."""

import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from kombu import Connection, Consumer, Queue

from durable_harness.waiting import wait_for

Take = Callable[..., "Taker"]


class Taker:
    """A consumer that keeps what it gets."""

    def __init__(self, connection: Connection, queues: tuple[str, ...], prefetch: int) -> None:
        self.connection, self.got = connection, []
        self.channel = connection.channel()
        self.channel.basic_qos(0, prefetch, apply_global=False)
        self.consumer = Consumer(
            self.channel, [Queue(name) for name in queues], on_message=self.got.append, auto_declare=False
        )
        for name in queues:
            self.channel.queue_declare(name)
        self.consumer.consume()

    def take(self, number: int) -> list[Any]:
        """The next messages.  Fails when there are fewer before a poll of a minute would find them."""
        wait_for(lambda: self.look(0.2) or len(self.got) >= number, f"{number} messages", seconds=30)
        taken, self.got[:] = list(self.got), []
        return taken

    def look(self, seconds: float = 0) -> None:
        with suppress(socket.timeout):
            self.connection.drain_events(timeout=seconds)
