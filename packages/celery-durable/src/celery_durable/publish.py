"""Publishing: one statement per message, or per thousand; in a transaction of its own or in the caller's.

    producer = producer_in(connection)          # SQLAlchemy Connection or Session, or a psycopg2 connection
    app.send_task("shop.bill", kwargs=…, queue="billing", task_id=…, producer=producer)
    task.apply_async(…, producer=producer); self.retry(countdown=30, snooze=True, producer=producer)
    with producer.batch():                      # kombu 5.7's own; one INSERT for a thousand, each built by Celery
        for order in orders:
            bill.apply_async((order,), producer=producer)

The message exists, and its consumers are notified, when the caller commits; after a rollback there was none.  Nothing
is begun or committed here, and no task code is needed to publish by name.  Only the first message of a queue that was
never declared opens a session, for a moment: see own_commit.py.  The transport's own producers have the same batches;
those are transactions of their own.  `template.py` builds messages more quickly.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from kombu.connection import Connection
from kombu.exceptions import OperationalError
from kombu.messaging import Producer
from kombu.transport import virtual

from .database import Run, runner
from .envelope import Letter, letter
from .errors import DuplicateKey, LeaseTokenMissing
from .own_commit import adds_queue
from .statements import Statements, cached_statements

#: Stores letters.
Send = Callable[[Sequence[Letter]], None]
#: Makes a queue of this name, if it is not there.
AddQueue = Callable[[str], None]
#: The first meets an unknown queue, the second a message that goes just then; a fifth has not been seen.
ATTEMPTS = 5
#: In one INSERT.
LETTERS = 1000
#: Of a Letter, what that takes; and what more, for one after the other.
COLUMNS = (*Letter._fields[:7], "priority")
MORE_COLUMNS = ("hint", "most_ready")


def put(run: Run, sql: Statements, post: Letter, add_queue: AddQueue | None = None) -> None:
    """Store one message, once: insert it, or update the leased row it retries.

    add_queue: other than by `run`.  The same task id again on the same queue: nothing changes.  A lease token that is
    no longer valid (a zombie's retry): nothing at all.
    Locks: the message row it retries; waits for an uncommitted holder of the same task id or unique key.
    Raises DuplicateKey, LeaseTokenMissing, and whatever `run` raises.
    """
    if post.lease_token:
        run(sql.retry, post.parameters())
        return None
    for _ in range(ATTEMPTS):
        if run(sql.publish, post.to_publish())[0][0] is not None:
            return None
        parameters = post.parameters()
        if found := run(sql.in_the_way, parameters):
            task_id, is_leased, is_same = found[0]
            if not (post.replaces and is_leased and task_id == post.task_id):
                return _met(post, task_id, is_leased=is_leased, is_same=is_same)
            # What it replaces has ended, and its acknowledgement is on the way: that is void then, or was quicker.
            if any(row[0] is not None for row in run(sql.replace, parameters)):
                return None
            continue
        # An unknown queue; or the message in the way has gone meanwhile, and then the name is there already.
        if add_queue is None:
            run(sql.add_queue, parameters)
        else:
            add_queue(post.queue)
    raise OperationalError(f"message {post.task_id} could not be stored: its unique key changes hands too fast")


def _met(post: Letter, task_id: str | None, *, is_leased: bool, is_same: bool) -> None:
    if not is_same:
        raise DuplicateKey(str(post.unique_key), task_id)
    if is_leased and post.is_retry:
        raise LeaseTokenMissing(post.task_id)


def put_many(run: Run, sql: Statements, posts: Sequence[Letter], add_queue: AddQueue | None = None) -> None:
    """Put each letter, in their order.  Those without a task id and retries go one by one."""
    many = [post for post in posts if post.task_id and not post.lease_token] if len(posts) > 1 else []
    stored: set[tuple[str, str]] = set()
    for start in range(0, len(many), LETTERS):
        part = many[start : start + LETTERS]
        given = _columns(part, COLUMNS)
        # whether a message parks its group depends on those before it
        if any(post.most_ready is not None for post in part):
            rows = run(sql.publish_each, {**given, **_columns(part, MORE_COLUMNS)})
        else:
            rows = run(sql.publish_many, given)
        stored.update((task_id, queue) for task_id, queue in rows)
    for post in posts:
        if (post.task_id, post.queue) not in stored:  # a conflict, or an unknown queue
            put(run, sql, post, add_queue)


def _columns(posts: Sequence[Letter], names: Sequence[str]) -> dict[str, Any]:
    found = {name: [getattr(post, name) for post in posts] for name in names}
    return {name: values if name == "payload" else _array(values) for name, values in found.items()}


def _array(values: Iterable[object]) -> str:
    """An array of short values as PostgreSQL spells it; psycopg2 spells an expression, which takes both sides longer.

    A payload is full of quotes, each of which would be escaped twice in here.
    """
    return "{" + ",".join(map(_element, values)) + "}"


def _element(value: object) -> str:
    if value is None:
        return "NULL"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


class PublishBatch:
    """What `Producer.batch` collects into.  send: (letters), stores them."""

    def __init__(self, channel: Any, send: Send, max_size: int) -> None:
        self.channel = channel
        self.letters: list[Letter] = []
        self._send, self._max_size = send, max_size

    def publish(self, message: Any, **options: Any) -> None:
        """Publish like the channel's basic_publish; it is stored with the rest."""
        self.channel.collect(self.letters, message, **options)
        if len(self.letters) >= self._max_size:
            self.flush()

    def flush(self) -> None:
        """Store what was collected.  Raises what `put` does; the letters are kept then."""
        if not self.letters:
            return
        self._send(self.letters)
        self.letters.clear()

    def discard(self) -> None:
        """Forget what was not stored."""
        self.letters.clear()

    def close(self) -> None:
        """Nothing is held besides the letters."""


def producer_in(connection: Any, options: Mapping[str, Any] | None = None) -> "TransactionProducer":
    """A producer for Celery that writes in the transaction of `connection`.

    options: `broker_transport_options`, needed only when they name a schema.
    """
    run, sql = runner(connection), cached_statements(options)
    add_queue = adds_queue(connection, run, sql)

    def send(letters: Sequence[Letter]) -> None:
        put_many(run, sql, letters, add_queue)

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
        """Publish like kombu's Producer, but a second attempt after an error is the caller's to make.

        The transaction is gone.
        """
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


class _Nowhere(Connection):
    """A connection that never connects.

    Celery asks it which errors to translate into kombu's: none, since they are those of the caller's own connection,
    and the caller's code looks for the driver's classes, for a serialization failure to try the transaction again.
    """

    connection_errors = channel_errors = recoverable_connection_errors = recoverable_channel_errors = ()


@lru_cache(maxsize=1)
def _nowhere() -> Connection:
    return _Nowhere("durable+postgresql+psycopg2://")
