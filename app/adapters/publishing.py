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

from app.store.core.session import Session
from app.store.core.unit_of_work import AlreadyQueuedError, JobMessage, Publish


def publisher(celery: Celery) -> Publish:
    """The publish function of a unit of work.  It needs no task code, so the web can use it too."""
    templates: dict[tuple[str, str, frozenset[str]], Template] = {}

    def letter(message: JobMessage) -> Letter:
        headers = _headers(message)
        kind = (message.task, message.queue, frozenset(headers))
        if kind not in templates:
            templates[kind] = Template(celery, message.task, {"queue": message.queue}, sorted(headers))
        filled = templates[kind].fill(str(message.job_id), (), dict(message.kwargs), headers)
        return filled._replace(delay=message.delay.total_seconds() or None)

    def send(connection: Session, messages: Sequence[JobMessage]) -> None:
        if not _is_one_of_a_kind(celery):
            put_many(runner(connection), cached_statements(None), [letter(message) for message in messages])
            return
        for message in messages:
            celery.send_task(
                message.task, kwargs=dict(message.kwargs), queue=message.queue, task_id=str(message.job_id),
                headers=_headers(message), producer=producer_in(connection),
                countdown=message.delay.total_seconds() or None,
            )  # fmt: skip

    def publish(connection: Session, messages: Sequence[JobMessage]) -> None:
        try:
            send(connection, messages)
        except DuplicateKey as there:
            if there.task_id is None:
                raise
            raise AlreadyQueuedError(UUID(there.task_id)) from there

    return publish


def _is_one_of_a_kind(celery: Celery) -> bool:
    """Whether a template would be wrong: a signal adds to each message, or a running task is this one's parent."""
    return bool(before_task_publish.receivers or after_task_publish.receivers or celery.current_worker_task)


def _headers(message: JobMessage) -> dict[str, str | float]:
    headers = {
        "tenant": str(message.user_id) if message.user_id else None,
        "unique_key": message.unique_key,
        "weight": STEP / message.step if message.step else None,
        "most_ready": message.most_ready,
    }
    return {name: value for name, value in headers.items() if value is not None}
