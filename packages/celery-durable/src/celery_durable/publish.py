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

from collections.abc import Callable, Mapping, Sequence
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
from .statements import ALIKE, Statements, cached_statements

#: Stores letters.
Send = Callable[[Sequence[Letter]], None]
#: Makes a queue of this name, if it is not there.
AddQueue = Callable[[str], None]
#: The first meets an unknown queue, the second a message that goes just then; a fifth has not been seen.
ATTEMPTS = 5
#: In one INSERT.
LETTERS = 1000


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
        _add(run, sql, post.queue, add_queue)
    raise OperationalError(f"message {post.task_id} could not be stored: its unique key changes hands too fast")


def _met(post: Letter, task_id: str | None, *, is_leased: bool, is_same: bool) -> None:
    if not is_same:
        raise DuplicateKey(str(post.unique_key), task_id)
    if is_leased and post.is_retry:
        raise LeaseTokenMissing(post.task_id)


def put_many(
    run: Run, sql: Statements, posts: Sequence[Letter], add_queue: AddQueue | None = None, *, are_new: bool = False
) -> None:
    """Put each letter, in their order.  Those without a task id and retries go one by one.

    are_new: no message has one of their task ids, or holds a unique key of theirs: the database need not look for one.
    If one does, nothing is stored, and the driver raises its UniqueViolation.
    """
    many = [n for n, post in enumerate(posts) if post.task_id and not post.lease_token] if len(posts) > 1 else []
    others = set(range(len(posts))).difference(many)

    def store(places: Sequence[int]) -> list[int]:
        """-> those that were not: a conflict, or an unknown queue."""
        found: list[int] = []
        for start in range(0, len(places), LETTERS):
            part = places[start : start + LETTERS]
            found += [part[n - 1] for (n,) in run(*_statement(sql, [posts[n] for n in part], are_new=are_new))]
        return found

    missing = store(many)
    if unknown := [name for name in {posts[n].queue: 0 for n in missing} if not run(sql.has_queue, {"queue": name})]:
        for name in unknown:
            _add(run, sql, name, add_queue)
        missing = store(missing)
    for n in sorted(others.union(missing)):
        put(run, sql, posts[n], add_queue)


def _add(run: Run, sql: Statements, queue: str, add_queue: AddQueue | None) -> None:
    if add_queue is None:
        run(sql.add_queue, {"queue": queue})
    else:
        add_queue(queue)


def _statement(sql: Statements, posts: Sequence[Letter], *, are_new: bool) -> tuple[str, dict[str, Any]]:
    """What stores them, and its parameters."""
    columns = dict(zip(Letter._fields, zip(*posts, strict=True), strict=True))
    given = {name: _array(columns[name]) for name in ALIKE if name != "payload"}
    given["payloads"] = "\n".join(columns["payload"])  # an array would be escaped once more
    limits = columns["most_ready"]
    if limits.count(None) == len(limits):
        return sql.publish_many, {**given, "may_conflict": not are_new}
    # Whether a message parks its group depends on those before it.
    return sql.publish_each, {**given, "hint": _array([post.hint for post in posts]), "most_ready": _array(limits)}


def _array(values: Sequence[object]) -> str:
    """An array of short values as PostgreSQL spells it; of psycopg2's expression both sides have more work."""
    if values.count(values[0]) == len(values):
        elements = [_element(values[0])] * len(values)
    else:
        elements = [_element(value) for value in values]
    return "{" + ",".join(elements) + "}"


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
