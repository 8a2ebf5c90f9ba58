"""A task that is sent often: its message is built by Celery once, and filled in for each.

    template = Template(app, "shop.bill", {"queue": "billing"}, headers=("tenant", "unique_key"))
    template.send(connection, task_id, (), {"order": 7}, {"tenant": "acme", "unique_key": "bill:7"})

As `send_task` with `producer_in(connection)`, but for the time to build the message: 0.03 ms instead of 0.12 (2026-11).
Celery's signals are sent once, when the template is made, and a task that makes it is the parent of all: who listens to
signals, or outlives the task, publishes with `send_task`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from kombu.serialization import dumps, loads

from .envelope import Letter, addressed
from .post import put
from .publish import TransactionProducer, cached_statements, runner

#: Celery's own measure of what is shown of arguments.
REPR_LENGTH = 1024


class Template:
    """A message as Celery builds it, cut open where the task's id, its arguments and `headers` stand.

    options: those of `app.send_task`, the same for all; headers: the names of those that differ.
    Raises ValueError for a serializer that makes no text.
    """

    def __init__(self, app: Any, name: str, options: Mapping[str, Any], headers: Sequence[str] = ()) -> None:
        self._serializer = options.get("serializer") or app.conf.task_serializer
        task_id, args, kwargs, body = marks = [uuid4().hex for _ in range(4)]
        caught: list[Letter] = []
        given = {**options, "task_id": task_id, "argsrepr": args, "kwargsrepr": kwargs}
        app.send_task(name, producer=TransactionProducer(caught.extend), **given)
        [self._letter] = caught
        message = json.loads(self._letter.payload)
        if message["properties"]["body_encoding"] != "utf-8":
            raise ValueError(f"a template needs a serializer that makes text, such as json, not {self._serializer!r}")
        kind = message["content-type"]
        self._embed = loads(message["body"], kind, message["content-encoding"], accept={kind})[2]
        for shown in ("argsrepr", "kwargsrepr"):  # Celery takes them as options, and leaves them among the properties
            del message["properties"][shown]
        self._fixed = options.get("headers") or {}
        self._headers = {header: uuid4().hex for header in headers}
        message["headers"] |= self._headers
        self._marks = [*marks, *self._headers.values()]
        pieces = [json.dumps({**message, "body": body}, separators=(",", ":"))]
        for mark in self._marks:
            pieces = [part for piece in pieces for part in _cut(piece, mark)]
        self._pieces = pieces

    def fill(
        self, task_id: str, args: Sequence[Any], kwargs: Mapping[str, Any], headers: Mapping[str, Any] | None = None
    ) -> Letter:
        """One message.  headers: a value for each that differs.  Raises KeyError, ValueError."""
        body = dumps((args, kwargs, self._embed), self._serializer)[2]
        differing = [(headers or {})[name] for name in self._headers]
        values = (task_id, repr(args)[:REPR_LENGTH], repr(kwargs)[:REPR_LENGTH], body, *differing)
        filled = {mark: json.dumps(value) for mark, value in zip(self._marks, values, strict=True)}
        said = addressed({**self._fixed, **headers}) if headers else {}
        payload = "".join([filled.get(piece, piece) for piece in self._pieces])
        return self._letter._replace(payload=payload, task_id=task_id, **said)

    def send(
        self,
        connection: Any,
        task_id: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        headers: Mapping[str, Any] | None = None,
        *,
        broker_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Publish one in the transaction of `connection`.

        broker_options: as of `producer_in`.  Raises what `put` does.
        """
        put(runner(connection), cached_statements(broker_options), self.fill(task_id, args, kwargs, headers))


def _cut(text: str, mark: str) -> list[str]:
    """`text` around each quoted `mark`, with the mark in between."""
    first, *others = text.split(f'"{mark}"')
    return [first, *(piece for other in others for piece in (mark, other))]
