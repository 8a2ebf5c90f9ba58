"""Publish a job's message by task name, in the caller's transaction."""

from uuid import UUID

from celery import Celery
from celery.signals import after_task_publish, before_task_publish
from celery_durable.envelope import STEP
from celery_durable.errors import DuplicateKey
from celery_durable.publish import producer_in
from celery_durable.template import Template

from app.store.session import Session
from app.store.unit_of_work import AlreadyQueuedError, JobMessage, Publish


def publisher(celery: Celery) -> Publish:
    """The publish function of a unit of work.  It needs no task code, so the web can use it too."""
    templates: dict[tuple[str, str, frozenset[str]], Template] = {}

    def send(connection: Session, message: JobMessage) -> None:
        headers, task_id = _headers(message), str(message.job_id)
        if _is_one_of_a_kind(celery):
            celery.send_task(
                message.task, kwargs=dict(message.kwargs), queue=message.queue, task_id=task_id, headers=headers,
                producer=producer_in(connection),
            )  # fmt: skip
            return
        kind = (message.task, message.queue, frozenset(headers))
        if kind not in templates:
            templates[kind] = Template(celery, message.task, {"queue": message.queue}, sorted(headers))
        templates[kind].send(connection, task_id, (), dict(message.kwargs), headers)

    def publish(connection: Session, message: JobMessage) -> None:
        try:
            send(connection, message)
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
