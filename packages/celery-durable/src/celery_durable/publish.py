"""Publishing: one statement per message, in a transaction of its own or in the caller's.  For many: `bulk.py`.

    producer = producer_in(connection)          # SQLAlchemy Connection or Session, or a psycopg2 connection
    app.send_task("shop.bill", kwargs=…, queue="billing", task_id=…, producer=producer)
    task.apply_async(…, producer=producer); self.retry(countdown=30, snooze=True, producer=producer)

The message is there, and its consumers are told, when the caller commits; after a rollback there was none.  No socket
is opened, nothing is begun, committed or declared here, and no task code is needed to publish by name.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from kombu.connection import Connection
from kombu.messaging import Producer
from kombu.transport import virtual

from .batch import PublishBatch
from .database import Row
from .envelope import Letter, letter
from .options import read_options
from .post import Run, put, put_many
from .statements import Statements, statements

#: Stores letters.
Send = Callable[[Sequence[Letter]], None]


def producer_in(connection: Any, options: Mapping[str, Any] | None = None) -> "TransactionProducer":
    """A producer for Celery that writes in the transaction of `connection`.

    options: `broker_transport_options`, needed only when they name a schema.
    """
    run, sql = runner(connection), cached_statements(options)

    def send(letters: Sequence[Letter]) -> None:
        if len(letters) == 1:
            put(run, sql, letters[0])
        else:
            put_many(run, sql, letters)

    return TransactionProducer(send)


def wake(connection: Any, queue: str, options: Mapping[str, Any] | None = None) -> None:
    """Tell the consumers of a queue, on commit, that messages became ready otherwise than by publishing."""
    runner(connection)(cached_statements(options).notify, {"hint": queue})


class TransactionProducer(Producer):
    """kombu's Producer without declarations and retries: both belong to the caller's transaction."""

    def __init__(self, send: Send) -> None:
        super().__init__(_TransactionChannel(send), auto_declare=False, serializer="json")

    def maybe_declare(self, entity: Any, retry: bool = False, **retry_policy: Any) -> None:  # noqa: FBT002
        """Queues are rows that exist, or are made by the first message."""

    def publish(self, body: Any, *args: Any, **options: Any) -> Any:
        """As kombu's, but a second attempt after an error is the caller's to make: the transaction is gone."""
        return super().publish(body, *args, **{**options, "retry": False})


class _TransactionChannel:
    """What a Producer needs of a channel; about 20 µs to make, a whole kombu connection would be 200."""

    is_open = True
    prepare_message = virtual.Channel.prepare_message
    default_priority = 0

    def __init__(self, send: Send) -> None:
        self._send = send
        self.connection = SimpleNamespace(client=_nowhere())

    def basic_publish(self, message: Any, **options: Any) -> None:
        letters: list[Letter] = []
        self.collect(letters, message, **options)
        self._send(letters)

    def collect(self, letters: list[Letter], message: Any, exchange: str, routing_key: str, **_: Any) -> None:
        if exchange:
            raise ValueError(f"publish in a transaction by queue name, not through exchange {exchange!r}")
        message["properties"]["delivery_info"].update(exchange="", routing_key=routing_key)
        letters.append(letter(message, routing_key))

    def create_publish_batch(self, max_size: int) -> PublishBatch:
        return PublishBatch(self, self._send, max_size)


@lru_cache(maxsize=1)
def _nowhere() -> Connection:
    """Celery asks the producer's connection which errors to translate; this one never connects."""
    return Connection("durable+postgresql+psycopg2://")


def cached_statements(options: Mapping[str, Any] | None) -> Statements:
    """Of `broker_transport_options`.  Raises BadOption."""
    return _statements(frozenset((options or {}).items()))


@lru_cache(maxsize=8)
def _statements(options: frozenset[tuple[str, Any]]) -> Statements:
    return statements(read_options(dict(options)))


def runner(connection: Any) -> Run:
    """Runs statements in the transaction of a SQLAlchemy Connection or Session, or of a psycopg2 connection."""
    if hasattr(connection, "cursor"):
        return _dbapi_runner(connection)
    # A Session has the connection of its transaction; both begin by themselves at the first statement.
    execute = (connection if hasattr(connection, "exec_driver_sql") else connection.connection()).exec_driver_sql

    def run(statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        result = execute(statement, dict(parameters))
        return [tuple(row) for row in result] if result.returns_rows else []

    return run


def _dbapi_runner(connection: Any) -> Run:
    def run(statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    return run
