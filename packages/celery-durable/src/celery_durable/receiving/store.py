"""Puts messages of another broker into the tables, a batch in one transaction."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg2
from kombu.exceptions import OperationalError

from celery_durable.database import is_refusal, runner
from celery_durable.envelope import OF_DELIVERY, Letter, letter
from celery_durable.errors import DuplicateKey
from celery_durable.publish import put, put_many
from celery_durable.statements import cached_statements

from .one_run import only_run

#: Of a message's properties; the others belong to its delivery by the other broker.
KEPT = (
    "app_id",
    "correlation_id",
    "delivery_mode",
    "expiration",
    "message_id",
    "priority",
    "reply_to",
    "type",
    "user_id",
)


_PLACE = "SELECT pg_backend_pid(), relnamespace::bigint FROM pg_class WHERE oid = to_regclass(%(view)s)"


class Store:
    """The broker's tables.

    connection: psycopg2's, without an open transaction and without autocommit; options: as for `producer_in`; locks:
    False behind a pooler without sessions, where a lock of the session would stay when the run has ended.
    """

    def __init__(self, connection: Any, options: Mapping[str, Any] | None = None, *, locks: bool = True) -> None:
        self._connection, self._run, self._sql = connection, runner(connection), cached_statements(options)
        self._schema = str((options or {}).get("schema") or "")
        self._known: set[str] = set()
        self._locks = locks

    @contextmanager
    def receiving(self, source: str, queues: Sequence[str]) -> Iterator[None]:
        """Make the queues, and keep other runs away from them while the block runs.  source: its name.

        Raises: AlreadyReceived, psycopg2.Error.
        """
        self._declare({*queues})
        with only_run(self._connection, source, queues if self._locks else (), self._schema):
            yield

    def place(self) -> tuple[int, int]:
        """The backend of this session, and the oid of the schema that the tables are in."""
        with self._connection:
            [(backend, schema)] = self._run(_PLACE, {"view": f"{self._schema}.broker_message".lstrip(".")})
        return backend, schema

    def put(self, batch: Sequence[tuple[str, Any]]) -> dict[int, str]:
        """Store messages, each once for a task and queue, and commit.  -> why not, by place in the batch.

        batch: (queue, message).  Raises: psycopg2.Error when the session ends; nothing is stored then.
        """
        self._declare({queue for queue, _ in batch})
        refused: dict[int, str] = {}
        letters: dict[int, Letter] = {}
        for place, (queue, message) in enumerate(batch):
            try:
                letters[place] = first_of_its_task(letter(as_published(message, queue), queue))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                refused[place] = str(error)
        try:
            with self._connection:
                put_many(self._run, self._sql, list(letters.values()))
        except (DuplicateKey, OperationalError, ValueError, psycopg2.Error) as error:
            if isinstance(error, psycopg2.Error) and not is_refusal(error):
                raise
            refused |= self._each(letters)
        return refused

    def _each(self, letters: Mapping[int, Letter]) -> dict[int, str]:
        """Store each in a transaction of its own, since one of them cannot be stored."""
        refused = {}
        for place, post in letters.items():
            try:
                with self._connection:
                    put(self._run, self._sql, post)
            except (DuplicateKey, OperationalError, ValueError, psycopg2.Error) as error:
                if isinstance(error, psycopg2.Error) and not is_refusal(error):
                    raise
                refused[place] = str(error).strip().partition("\n")[0]
        return refused

    def _declare(self, names: set[str]) -> None:
        """Make the queues, in a commit of their own."""
        with self._connection:
            for queue in sorted(names - self._known):
                self._run(self._sql.add_queue, {"queue": queue})
        self._known |= names


def first_of_its_task(post: Letter) -> Letter:
    """A letter that changes no message here: a retry or a replacement at the source has no delivery of this broker.

    So one whose task is on its queue already, also one that runs, is not stored again, and keeps its lease.
    """
    return post._replace(lease_token=None, is_retry=False, replaces=False, snooze=False, park=False)


def as_published(message: Any, queue: str) -> dict[str, Any]:
    """The message as its publisher made it, addressed to a queue.  message: kombu's.  Raises what unpacking it did."""
    if message.errors:
        raise ValueError(f"its body cannot be unpacked: {message.errors[0][1]!r}")
    gone = {"compression", *OF_DELIVERY}  # its body is unpacked
    return {
        "body": _text(message.body, message.content_encoding),
        "content-type": message.content_type,
        "content-encoding": message.content_encoding,
        "headers": {name: value for name, value in message.headers.items() if name not in gone},
        "properties": {
            **{name: message.properties[name] for name in KEPT if name in message.properties},
            "delivery_info": {"exchange": "", "routing_key": queue},
        },
    }


def _text(body: Any, encoding: str | None) -> Any:
    """A body as text, if it is text: that is stored readable."""
    if isinstance(body, bytes) and encoding in {"utf-8", "us-ascii"}:
        return body.decode(encoding)
    return bytes(body) if isinstance(body, memoryview) else body
