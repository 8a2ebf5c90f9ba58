"""Publishing: one statement per message, in a transaction of its own or in the caller's.

    producer = producer_in(connection)          # SQLAlchemy Connection or Session, or a psycopg2 connection
    app.send_task("shop.bill", kwargs=…, queue="billing", task_id=…, producer=producer)
    task.apply_async(…, producer=producer); self.retry(countdown=30, snooze=True, producer=producer)

The message is there, and its consumers are told, when the caller commits; after a rollback there was none.  No socket
is opened, nothing is begun, committed or declared here, and no task code is needed to publish by name.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from kombu.connection import Connection
from kombu.exceptions import OperationalError
from kombu.messaging import Producer
from kombu.transport import virtual

from .database import Row
from .envelope import Letter, letter
from .errors import DuplicateKey, LeaseTokenMissing
from .options import read_options
from .statements import Statements, statements

#: (statement, parameters) -> rows
Run = Callable[[str, Mapping[str, Any]], list[Row]]
#: The first meets an unknown queue, the second a message that goes just then; a fifth has not been seen.
ATTEMPTS = 5


def put(run: Run, sql: Statements, post: Letter) -> None:
    """Store one message, once: insert it, or update the leased row it retries.

    The same task id again: nothing changes.  A lease token that is no longer valid (a zombie's retry): nothing at all.
    Locks: the message row it retries; waits for an uncommitted holder of the same task id or unique key.
    Raises DuplicateKey, LeaseTokenMissing, and whatever `run` raises.
    """
    parameters = post.parameters()
    if post.lease_token:
        run(sql.retry, parameters)
        return None
    for _ in range(ATTEMPTS):
        if run(sql.publish, parameters)[0][0] is not None:
            return None
        if found := run(sql.in_the_way, parameters):
            return _met(post, *found[0])
        # An unknown queue; or the message in the way has gone meanwhile, and then the name is there already.
        run(sql.add_queue, parameters)
    raise OperationalError(f"message {post.task_id} could not be stored: its unique key changes hands too fast")


def _met(post: Letter, task_id: str | None, leased: bool) -> None:
    if task_id is None or task_id != post.task_id:
        raise DuplicateKey(str(post.unique_key), task_id)
    if leased and post.is_retry:
        raise LeaseTokenMissing(post.task_id)


def producer_in(connection: Any, options: Mapping[str, Any] | None = None) -> "TransactionProducer":
    """A producer for Celery that writes in the transaction of `connection`.

    options: `broker_transport_options`, needed only when they rename the tables.
    """
    return TransactionProducer(_runner(connection), _statements(frozenset((options or {}).items())))


def wake(connection: Any, queue: str, options: Mapping[str, Any] | None = None) -> None:
    """Tell the consumers of a queue, on commit, that messages became ready otherwise than by publishing."""
    sql = _statements(frozenset((options or {}).items()))
    _runner(connection)(sql.notify, {"hint": queue})


class TransactionProducer(Producer):
    """kombu's Producer without declarations and retries: both belong to the caller's transaction."""

    def __init__(self, run: Run, sql: Statements) -> None:
        super().__init__(_TransactionChannel(run, sql), auto_declare=False, serializer="json")

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

    def __init__(self, run: Run, sql: Statements) -> None:
        self._run, self._sql = run, sql
        self.connection = SimpleNamespace(client=_nowhere())

    def basic_publish(self, message: Any, exchange: str, routing_key: str, **_: Any) -> None:
        if exchange:
            raise ValueError(f"publish in a transaction by queue name, not through exchange {exchange!r}")
        message["properties"]["delivery_info"].update(exchange="", routing_key=routing_key)
        put(self._run, self._sql, letter(message, routing_key))


@lru_cache(maxsize=1)
def _nowhere() -> Connection:
    """Celery asks the producer's connection which errors to translate; this one never connects."""
    return Connection("durable+postgresql+psycopg2://")


@lru_cache(maxsize=8)
def _statements(options: frozenset[tuple[str, Any]]) -> Statements:
    return statements(read_options(dict(options)))


def _runner(connection: Any) -> Run:
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
