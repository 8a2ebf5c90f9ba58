"""A transport without a broker: messages come from a list in the worker's own memory.

What a worker does with it is Celery's own ceiling, since nothing is fetched, decoded or written down.
"""

# ruff: noqa: D102  the methods are kombu's

import os
from collections.abc import Callable
from typing import Any

from kombu.serialization import dumps
from kombu.transport import base, virtual

from durable_bench.clients.celery_app import app


class Channel(virtual.Channel):
    """Delivers up to the prefetch count, again whenever half of it is free, as a batching broker would."""

    do_restore = False

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self._left = int(os.environ["BENCH_MESSAGES"])
        self._held = self._prefetch = 0
        self._asked = False
        self._receive: Callable[[Any], None] | None = None
        sent = app.amqp.as_task_v2("", "nothing")
        self._headers, self._properties = sent.headers, sent.properties
        self._content_type, self._encoding, self._body = dumps(sent.body, "json")

    def queue_declare(self, queue: Any = None, **_: Any) -> Any:
        return virtual.base.queue_declare_ok_t(queue, 0, 0)

    def queue_bind(self, *_: Any, **__: Any) -> None:
        pass

    def basic_qos(self, prefetch_size: int = 0, prefetch_count: int = 0, apply_global: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        self._prefetch = prefetch_count

    def basic_consume(self, queue: str, no_ack: bool, callback: Any, consumer_tag: str, **_: Any) -> None:  # noqa: ARG002, FBT001
        self._receive = callback
        self._consumers.add(consumer_tag)
        self._ask()

    def basic_cancel(self, consumer_tag: str) -> None:
        self._consumers.discard(consumer_tag)

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        self._held -= 1
        if not self._asked and 2 * self._held <= self._prefetch:
            self._ask()

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        self._held -= 1

    def _ask(self) -> None:
        self._asked = True
        self.connection.loop.call_soon(self._feed)

    def _feed(self) -> None:
        self._asked = False
        while self._left and self._held < self._prefetch and self._consumers and self._receive:
            self._left -= 1
            self._held += 1
            self._receive(self.Message(self._message(f"00000000-0000-0000-0000-{self._left:012}"), channel=self))

    def _message(self, task_id: str) -> dict[str, Any]:
        properties = {
            **self._properties, "correlation_id": task_id, "delivery_tag": task_id, "body_encoding": None,
            "delivery_info": {"exchange": "", "routing_key": "celery"},
        }  # fmt: skip
        return {
            "body": self._body, "content-type": self._content_type, "content-encoding": self._encoding,
            "headers": {**self._headers, "id": task_id, "root_id": task_id}, "properties": properties,
        }  # fmt: skip


class Transport(virtual.Transport):
    """The transport of `nobroker://`."""

    Channel = Channel
    driver_type = driver_name = "nobroker"
    implements = base.Transport.implements.extend(
        asynchronous=True, exchange_type=frozenset(["direct"]), heartbeats=False
    )
    loop: Any = None

    def driver_version(self) -> str:
        return "-"

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:  # noqa: ARG002
        self.loop = loop
