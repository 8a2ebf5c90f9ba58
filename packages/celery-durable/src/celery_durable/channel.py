"""kombu's channel over the tables."""

# ruff: noqa: D102, ARG002, FBT002  the methods and their parameters are kombu's

import logging
from collections.abc import Sequence
from contextlib import suppress
from threading import local
from typing import Any
from uuid import uuid4

from amqp.protocol import queue_declare_ok_t  # type: ignore[import-untyped]
from kombu.exceptions import OperationalError
from kombu.transport import virtual
from kombu.transport.base import to_rabbitmq_queue_arguments

from .celery_worker import is_serving, is_stopping, waiting_tags
from .database import CONNECTION_ERRORS, SERVER_ERRORS, UNDEFINED, Row
from .delivery import Delivery
from .ending import REVIVE_SECONDS
from .envelope import Letter, delivery, letter
from .ledger import ACK, REJECTED, REQUEUE, RETURNED, UNDECODABLE
from .node import Node
from .publish import PublishBatch, put, put_many
from .statements import statements

logger = logging.getLogger(__name__)


class Channel(virtual.Channel):
    """Publishes through the transport's connection, consumes through its own node."""

    Message = Delivery
    do_restore = False
    supports_fanout = True

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self._sql = statements(connection.options)
        self._receivers: dict[str, Any] = {}
        self._collecting = local()  # the connection, and so the channel, may be shared by threads
        self._transient: set[str] = set()
        self._fanout = connection.fanout
        self.node = Node(
            connection.url,
            connection.options,
            decode=self._decode_row,
            deliver=self._deliver_message,
            is_stopping=is_stopping,
            fanout=connection.fanout,
            connect_timeout=connection.client.connect_timeout,
        )

    # -- publishing ---------------------------------------------------------------------------------------------

    def _inplace_augment_message(self, message: Any, exchange: str, routing_key: str) -> None:
        message["properties"]["delivery_info"].update(exchange=exchange, routing_key=routing_key)

    def basic_publish(self, message: Any, exchange: str, routing_key: str, **_: Any) -> None:
        if self.closed:
            # kombu replaced it in the middle of a publish, when the session ended at a declaration, and tries again.
            raise ConnectionResetError("the channel was closed with its connection")
        self._inplace_augment_message(message, exchange, routing_key)
        queues = self._lookup(exchange, routing_key)
        for queue in queues if len(queues) < 2 else _each_of(message, queues):
            self._put(queue, message)
        kind = self._kind_of(exchange)
        if not queues or kind == "fanout":
            # A message to a topic without a reader is dropped, as with any broker.  The other types are rare and short:
            # their readers need no announcements.
            self.connection.sender.send(message, exchange, routing_key, if_wanted=kind == "topic")

    def _kind_of(self, exchange: str) -> str:
        return str(self.state.exchanges[exchange]["type"]) if exchange in self.state.exchanges else "direct"

    def _put(self, queue: str, message: Any, **_: Any) -> None:
        letters = getattr(self._collecting, "letters", None)
        if letters is None:
            put(self._run, self._sql, letter(message, queue))
        else:
            letters.append(letter(message, queue))

    def collect(self, letters: list[Letter], message: Any, **options: Any) -> None:
        """Publish into a list: an exchange may turn one message into several letters."""
        self._collecting.letters = letters
        try:
            self.basic_publish(message, **options)
        finally:
            self._collecting.letters = None

    def create_publish_batch(self, max_size: int) -> PublishBatch:
        return PublishBatch(self, self._put_many, max_size)

    def _put_many(self, letters: Sequence[Letter]) -> None:
        with self.connection.database.transaction():
            put_many(self._run, self._sql, letters)

    def _run(self, statement: str, parameters: Any) -> list[Row]:
        try:
            return list(self.connection.database.run(statement, parameters))
        except UNDEFINED as error:
            raise self.connection.missing(error) from None

    def _ask(self, statement: str, parameters: Any) -> list[Row]:
        return list(self.connection.run(statement, parameters))

    # -- queues -------------------------------------------------------------------------------------------------

    def prepare_queue_arguments(self, arguments: Any, **kwargs: Any) -> Any:
        return to_rabbitmq_queue_arguments(arguments, **kwargs)

    def queue_declare(self, queue: str | None = None, passive: bool = False, **kwargs: Any) -> Any:
        """A queue that ends with its consumer is a subscription in memory; every other queue is a row.

        A queue that is not durable, or expires, may still have many consumers: each message must go to one of them.
        """
        if queue in self._fanout.queues:
            return queue_declare_ok_t(queue, 0, 0)
        if not passive and (kwargs.get("exclusive") or kwargs.get("auto_delete")):
            queue = queue or f"amq.gen-{uuid4()}"
            self._fanout.declare(queue, kwargs.get("arguments"))
            self._transient.add(queue)
            return queue_declare_ok_t(queue, 0, 0)
        # The base class counts the messages of every queue it declares; that is not needed here.
        declared = super().queue_declare(queue, passive, **kwargs) if passive or not queue else None
        if declared is None:
            self._new_queue(str(queue))
            declared = queue_declare_ok_t(queue, 0, 0)
        return declared

    def queue_bind(
        self, queue: str, exchange: str | None = None, routing_key: str = "", arguments: Any = None, **kwargs: Any
    ) -> None:
        if queue in self._fanout.queues:
            exchange = exchange or "amq.direct"
            self._fanout.bind(queue, (exchange, self._kind_of(exchange), routing_key), self.connection.run)
        else:
            super().queue_bind(queue, exchange, routing_key, arguments, **kwargs)

    def queue_unbind(
        self, queue: str, exchange: str | None = None, routing_key: str = "", arguments: Any = None, **kwargs: Any
    ) -> None:
        if queue in self._fanout.queues:
            self._fanout.unbind(queue, exchange or "amq.direct", routing_key)
        else:
            super().queue_unbind(queue, exchange, routing_key, arguments, **kwargs)

    def queue_delete(self, queue: str, if_unused: bool = False, if_empty: bool = False, **kwargs: Any) -> None:
        if self._fanout.queues.pop(queue, None) is None:
            super().queue_delete(queue, if_unused, if_empty, **kwargs)

    def _queue_bind(self, *_: Any) -> None:
        """Bindings of stored queues belong to this process."""

    def _new_queue(self, queue: str, **_: Any) -> None:
        self._ask(self._sql.add_queue, {"queue": queue})

    def _has_queue(self, queue: str, **_: Any) -> bool:
        return bool(self._ask(self._sql.has_queue, {"queue": queue}))

    def _size(self, queue: str) -> int:
        if queue in self._fanout.queues:
            return len(self._fanout.queues[queue].waiting)
        return int(self._ask(self._sql.size, {"queue": queue})[0][0])

    def _purge(self, queue: str) -> int:
        if queue in self._fanout.queues:
            purged = len(self._fanout.queues[queue].waiting)
            self._fanout.queues[queue].waiting.clear()
            return purged
        return int(self._ask(self._sql.purge, {"queue": queue})[0][0])

    # -- consuming ----------------------------------------------------------------------------------------------

    def basic_consume(self, queue: str, no_ack: bool, callback: Any, consumer_tag: str, **_: Any) -> None:
        def receive(message: Delivery) -> None:
            if no_ack:
                self.node.settle(message.delivery_tag, ACK)
            callback(message)

        self._tag_to_queue[consumer_tag] = queue
        self._consumers.add(consumer_tag)
        self._receivers[queue] = receive
        if queue in self._fanout.queues:
            self._fanout.consume(queue, lambda raw: Delivery(raw, channel=self), callback)
            self.connection.host().timer.within(0)
        if self._fanout.is_stored(queue):
            self.connection.prepare(self.node)
            self.node.consume(queue)

    def basic_cancel(self, consumer_tag: str) -> None:
        if consumer_tag not in self._consumers:
            return
        self._consumers.remove(consumer_tag)
        queue = self._tag_to_queue.pop(consumer_tag)
        self._receivers.pop(queue, None)
        self.node.cancel(queue)
        if self._fanout.queues.pop(queue, None) is not None:
            self.connection.leave_host()
        if not self._consumers:
            self._hand_back_waiting()

    def basic_get(self, queue: str, no_ack: bool = False, **_: Any) -> Delivery | None:
        if queue in self._fanout.queues:
            raw = self._fanout.get(queue, self.connection.run)
            return None if raw is None else Delivery(raw, channel=self)
        self.connection.prepare(self.node)
        message = self.node.get(queue)
        if message is not None and no_ack:
            self.node.settle(message.delivery_tag, ACK)
        return message

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        self.node.settle(delivery_tag, ACK)

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        # A task that rejects its message with requeue asked for it; the intent of a plain consumer is unknown.
        back = RETURNED if is_serving() else REQUEUE
        self.node.settle(delivery_tag, back if requeue else REJECTED)

    def basic_qos(self, prefetch_size: int = 0, prefetch_count: int = 0, apply_global: bool = False) -> None:
        self.node.prefetch_count = prefetch_count
        self.node.timer.within(0)

    def basic_recover(self, requeue: bool = False) -> None:
        self.node.hand_back(list(self.node.held))

    def close(self) -> None:
        if not self.closed:
            self.node.close()
            super().close()
            for queue in self._transient:
                self._fanout.queues.pop(queue, None)

    def _decode_row(self, row: Row, queue: str) -> Delivery:
        message = Delivery(delivery(row, queue), channel=self)
        if message.errors:  # the body could not even be unpacked; Celery would acknowledge the message
            raise message.errors[0][1]
        return message

    def _deliver_message(self, message: Delivery, queue: str) -> None:
        receive = self._receivers.get(queue)
        if receive is None:  # cancelled between the claim and now
            self.node.settle(message.delivery_tag, REQUEUE)
            return
        try:
            receive(message)
        except Exception as error:
            if not is_serving() or isinstance(error, (*CONNECTION_ERRORS, OperationalError)):
                raise
            # Celery reads parts of a message unguarded: the worker survives whatever was written into the table.
            logger.error("event=dead_letter reason=undecodable tag=%s error=%r", message.delivery_tag, error)  # noqa: TRY400
            self.node.settle(message.delivery_tag, UNDECODABLE)

    def _hand_back_waiting(self) -> None:
        """A stopping Celery worker has just dropped the messages it had not started; others can have them at once.

        Running ones stay leased until acknowledged.  A plain kombu consumer keeps all: what it runs is unknown.
        """
        node = self.node
        waiting = waiting_tags(node.timer.loop, set(node.held), node.inbox.tags())
        try:
            node.hand_back(list(waiting))
        except SERVER_ERRORS:  # it was logged; running messages need the lock until they end, and no one returns here
            if node.revive(REVIVE_SECONDS):
                with suppress(*SERVER_ERRORS):  # close tries again
                    node.hand_back(list(waiting))


def _each_of(message: Any, queues: list[str]) -> list[str]:
    """Where a message goes that an exchange routes to several queues.  Raises ValueError.

    A retry of one of its copies is that copy's alone: with no name it waits on the queue that its delivery is from.
    """
    found = letter(message, "")
    if found.unique_key is not None:
        raise ValueError(f"a message with a unique_key goes to one queue, not to {', '.join(sorted(queues))}")
    return [""] if found.lease_token else queues
