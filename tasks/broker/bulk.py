"""Publishing many messages at once: one INSERT for a thousand.

    with producer.batch():                      # kombu's own; any tasks, built by Celery one by one
        for order in orders:
            bill.apply_async((order,), producer=producer)
    send_many(connection, app, "shop.bill", [((order,), {}) for order in orders], queue="billing")   # one task

`producer` is `producer_in(connection)`, or one of the transport, whose batches are transactions of their own.
`send_many` builds the message once: several times as many a second, and Celery's signals are sent once for all.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from kombu.serialization import dumps, loads

from .envelope import Letter
from .post import LETTERS, put_many
from .publish import TransactionProducer, cached_statements, runner

#: Celery's own measure of what is shown of arguments.
REPR_LENGTH = 1024


def send_many(
    connection: Any,
    app: Any,
    name: str,
    calls: Iterable[tuple[Sequence[Any], Mapping[str, Any]]],
    *,
    broker_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[str]:
    """Send one task many times, in the transaction of `connection`.  -> the tasks' ids, in the order of `calls`.

    calls: (args, kwargs) of each; connection, broker_options: as of `producer_in`; options: those of `app.send_task`,
    the same for all.  Raises what `put` does; roll back in that case.
    """
    run, sql = runner(connection), cached_statements(broker_options)
    pattern = _Pattern(app, name, options)
    ids: list[str] = []
    letters: list[Letter] = []
    for args, kwargs in calls:
        ids.append(str(uuid4()))
        letters.append(pattern.fill(ids[-1], args, kwargs))
        if len(letters) >= LETTERS:
            put_many(run, sql, letters)
            letters.clear()
    put_many(run, sql, letters)
    return ids


class _Pattern:
    """A message as Celery builds it, cut open where the task's id, its arguments and what is shown of them stand."""

    def __init__(self, app: Any, name: str, options: Mapping[str, Any]) -> None:
        self._serializer = options.get("serializer") or app.conf.task_serializer
        task_id, args, kwargs, body = marks = [uuid4().hex for _ in range(4)]
        caught: list[Letter] = []
        given = {**options, "task_id": task_id, "argsrepr": args, "kwargsrepr": kwargs}
        app.send_task(name, producer=TransactionProducer(caught.extend), **given)
        [self._letter] = caught
        message = json.loads(self._letter.payload)
        if message["properties"]["body_encoding"] != "utf-8":
            raise ValueError(f"send_many needs a serializer that makes text, such as json, not {self._serializer!r}")
        kind = message["content-type"]
        self._embed = loads(message["body"], kind, message["content-encoding"], accept={kind})[2]
        for shown in ("argsrepr", "kwargsrepr"):  # Celery takes them as options, and leaves them among the properties
            del message["properties"][shown]
        pieces = [json.dumps({**message, "body": body}, separators=(",", ":"))]
        for mark in marks:
            pieces = [part for piece in pieces for part in _cut(piece, mark)]
        self._pieces = pieces
        self._marks = marks

    def fill(self, task_id: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Letter:
        """One message."""
        body = dumps((args, kwargs, self._embed), self._serializer)[2]
        values = (task_id, repr(args)[:REPR_LENGTH], repr(kwargs)[:REPR_LENGTH], body)
        filled = {mark: json.dumps(value) for mark, value in zip(self._marks, values, strict=True)}
        payload = "".join([filled.get(piece, piece) for piece in self._pieces])
        return self._letter._replace(payload=payload, task_id=task_id)


def _cut(text: str, mark: str) -> list[str]:
    """`text` around each quoted `mark`, with the mark in between."""
    first, *others = text.split(f'"{mark}"')
    return [first, *(piece for other in others for piece in (mark, other))]
