"""Publish the messages of jobs by task name, in the caller's transaction."""

from collections.abc import Sequence
from uuid import UUID

from celery import Celery
from celery.signals import after_task_publish, before_task_publish
from celery_durable.database import runner
from celery_durable.envelope import STEP, Letter
from celery_durable.errors import DuplicateKey
from celery_durable.publish import producer_in, put_many
from celery_durable.statements import cached_statements
from celery_durable.template import Template

from app import origins, telemetry
from app.origins import Origin
from app.store.core.session import Session
from app.store.core.unit_of_work import AlreadyQueuedError, JobMessage, Publish

#: Of a message, by name.
MessageHeaders = dict[str, str | float]


def publisher(celery: Celery) -> Publish:
    """The publish function of a unit of work.  It needs no task code, so the web can use it too."""
    return _Publisher(celery)


class _Publisher:
    """Keeps a template for each kind of message."""

    def __init__(self, celery: Celery) -> None:
        self._celery = celery
        self._templates: dict[tuple[str, str, frozenset[str]], Template] = {}

    def __call__(self, connection: Session, messages: Sequence[JobMessage]) -> None:
        origin, spans = origins.current(), telemetry.spans
        if spans is None:
            self._put(connection, [(message, _headers(message, origin)) for message in messages])
            return
        with spans.sending([(message.queue, str(message.job_id)) for message in messages], origin) as each:
            with_spans = zip(messages, each, strict=True)
            self._put(connection, [(message, _headers(message, one)) for message, one in with_spans])

    def _put(self, connection: Session, messages: Sequence[tuple[JobMessage, MessageHeaders]]) -> None:
        try:
            self._send(connection, messages)
        except DuplicateKey as there:
            if there.task_id is None:
                raise
            raise AlreadyQueuedError(UUID(there.task_id)) from there

    def _send(self, connection: Session, messages: Sequence[tuple[JobMessage, MessageHeaders]]) -> None:
        if not _is_one_of_a_kind(self._celery):
            put_many(runner(connection), cached_statements(None), [self._letter(*message) for message in messages])
            return
        for message, headers in messages:
            self._celery.send_task(
                message.task, kwargs=dict(message.kwargs), queue=message.queue, task_id=str(message.job_id),
                headers=headers, producer=producer_in(connection), countdown=message.delay.total_seconds() or None,
            )  # fmt: skip

    def _letter(self, message: JobMessage, headers: MessageHeaders) -> Letter:
        kind = (message.task, message.queue, frozenset(headers))
        if kind not in self._templates:
            self._templates[kind] = Template(self._celery, message.task, {"queue": message.queue}, sorted(headers))
        filled = self._templates[kind].fill(str(message.job_id), (), dict(message.kwargs), headers)
        return filled._replace(delay=message.delay.total_seconds() or None)


def _is_one_of_a_kind(celery: Celery) -> bool:
    """Whether a template would be wrong: a signal adds to each message, or a running task is this one's parent."""
    return bool(before_task_publish.receivers or after_task_publish.receivers or celery.current_worker_task)


def _headers(message: JobMessage, origin: Origin | None) -> MessageHeaders:
    """What the broker reads, and the ids of the request behind the message, which stay with it whatever it meets."""
    headers = {
        "tenant": str(message.user_id) if message.user_id else None,
        "unique_key": message.unique_key,
        "weight": STEP / message.step if message.step else None,
        "most_ready": message.most_ready,
        "request_id": origin.request_id if origin else None,
        "traceparent": origin.traceparent if origin else None,
    }
    return {name: value for name, value in headers.items() if value is not None}
