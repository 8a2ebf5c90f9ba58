"""kombu's channel over the tables."""

# ruff: noqa: D102, ARG002, FBT002  the methods and their parameters are kombu's

from typing import Any

from amqp.protocol import queue_declare_ok_t  # type: ignore[import-untyped]
from kombu.transport import virtual

from .batch import PublishBatch
from .celery_worker import is_stopping, unfinished_ids
from .database import CONNECTION_ERRORS, Row
from .envelope import Letter, delivery, letter
from .ledger import ACK, REJECTED, REQUEUE, UNDECODABLE
from .node import Node
from .post import put, put_many
from .statements import statements


class Delivery(virtual.Message):
    """A delivery.  One whose body turns out to be unreadable is not acknowledged away but kept as a dead letter."""

    undecodable = False

    def _decode(self) -> Any:
        try:
            return super()._decode()
        except Exception:
            self.undecodable = True
            raise

    def ack(self, multiple: bool = False) -> None:
        """Acknowledge; see the class."""
        if self.undecodable and not self.acknowledged:
            self.channel.node.settle(self.delivery_tag, UNDECODABLE)
            self._state = "ACK"
        else:
            super().ack(multiple=multiple)


class Channel(virtual.Channel):
    """Publishes through the transport's connection, consumes through a node of its own."""

    Message = Delivery
    do_restore = False

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self._sql = statements(connection.options)
        self._receivers: dict[str, Any] = {}
        self._collecting: list[Letter] | None = None
        self.node = Node(
            connection.url,
            connection.options,
            decode=self._decode_row,
            deliver=self._deliver_message,
            is_stopping=is_stopping,
            connect_timeout=connection.client.connect_timeout,
        )

    # -- publishing ---------------------------------------------------------------------------------------------

    def _inplace_augment_message(self, message: Any, exchange: str, routing_key: str) -> None:
        message["properties"]["delivery_info"].update(exchange=exchange, routing_key=routing_key)

    def _put(self, queue: str, message: Any, **_: Any) -> None:
        if self._collecting is None:
            put(self._run, self._sql, letter(message, queue))
        else:
            self._collecting.append(letter(message, queue))

    def collect(self, letters: list[Letter], message: Any, **options: Any) -> None:
        """Publish into a list: an exchange may make several letters of a message."""
        self._collecting = letters
        try:
            self.basic_publish(message, **options)
        finally:
            self._collecting = None

    def create_publish_batch(self, max_size: int) -> PublishBatch:
        return PublishBatch(self, lambda letters: put_many(self._run, self._sql, letters), max_size)

    def _run(self, statement: str, parameters: Any) -> list[Row]:
        return list(self.connection.database.run(statement, parameters))

    # -- queues -------------------------------------------------------------------------------------------------

    def queue_declare(self, queue: str | None = None, passive: bool = False, **kwargs: Any) -> Any:
        # The base class counts the messages of every queue it declares; nobody asks for that here.
        declared = super().queue_declare(queue, passive, **kwargs) if passive or not queue else None
        if declared is None:
            self._new_queue(str(queue))
            declared = queue_declare_ok_t(queue, 0, 0)
        return declared

    def _new_queue(self, queue: str, **_: Any) -> None:
        self._run(self._sql.add_queue, {"queue": queue})

    def _has_queue(self, queue: str, **_: Any) -> bool:
        return bool(self._run(self._sql.has_queue, {"queue": queue}))

    def _size(self, queue: str) -> int:
        return int(self._run(self._sql.size, {"queue": queue})[0][0])

    def _purge(self, queue: str) -> int:
        return int(self._run(self._sql.purge, {"queue": queue})[0][0])

    # -- consuming ----------------------------------------------------------------------------------------------

    def basic_consume(self, queue: str, no_ack: bool, callback: Any, consumer_tag: str, **_: Any) -> None:
        def receive(message: Delivery) -> None:
            if no_ack:
                self.node.settle(message.delivery_tag, ACK)
            callback(message)

        self.connection.prepare(self.node)
        self._tag_to_queue[consumer_tag] = queue
        self._consumers.add(consumer_tag)
        self._receivers[queue] = receive
        self.node.consume(queue)

    def basic_cancel(self, consumer_tag: str) -> None:
        if consumer_tag not in self._consumers:
            return
        self._consumers.remove(consumer_tag)
        queue = self._tag_to_queue.pop(consumer_tag)
        self._receivers.pop(queue, None)
        self.node.cancel(queue)
        if not self._consumers:
            self._hand_back_waiting()

    def basic_get(self, queue: str, no_ack: bool = False, **_: Any) -> Delivery | None:
        self.connection.prepare(self.node)
        message = self.node.get(queue)
        if message is not None and no_ack:
            self.node.settle(message.delivery_tag, ACK)
        return message

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        self.node.settle(delivery_tag, ACK)

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        self.node.settle(delivery_tag, REQUEUE if requeue else REJECTED)

    def basic_qos(self, prefetch_size: int = 0, prefetch_count: int = 0, apply_global: bool = False) -> None:
        self.node.prefetch_count = prefetch_count
        self.node.alarm.within(0)

    def basic_recover(self, requeue: bool = False) -> None:
        self.node.hand_back(list(self.node.held))

    def close(self) -> None:
        if not self.closed:
            self.node.close()
            super().close()

    def _decode_row(self, row: Row, queue: str) -> Delivery:
        return Delivery(delivery(row, queue), channel=self)

    def _deliver_message(self, message: Delivery, queue: str) -> None:
        receive = self._receivers.get(queue)
        if receive is None:  # cancelled between the claim and now
            self.node.settle(message.delivery_tag, REQUEUE)
        else:
            receive(message)

    def _hand_back_waiting(self) -> None:
        """A Celery worker that stops has just forgotten what it had not started; others can have it at once.

        What runs stays leased until its acknowledgement.  A plain kombu consumer keeps all: nobody knows what it does.
        """
        known = unfinished_ids(self.node.alarm.loop)
        if known is None:
            return
        waiting = [tag for tag, lease in list(self.node.held.items()) if lease.task_id not in known]
        try:
            self.node.hand_back(waiting)
        except CONNECTION_ERRORS:
            return  # close tries again
