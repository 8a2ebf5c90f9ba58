"""Publish a job's message by task name inside the caller's transaction."""

from uuid import UUID

from celery import Celery

from app.store.session import Session
from app.store.unit_of_work import AlreadyQueuedError, JobMessage, Publish
from tasks.broker.envelope import STEP
from tasks.broker.errors import DuplicateKey
from tasks.broker.publish import producer_in


def publisher(celery: Celery) -> Publish:
    """What a unit of work publishes with.  Needs no task code, so the web can use it too."""

    def publish(connection: Session, message: JobMessage) -> None:
        headers = {
            "tenant": str(message.user_id) if message.user_id else None,
            "unique_key": message.unique_key,
            "weight": STEP / message.step if message.step else None,
            "most_ready": message.most_ready,
        }
        kwargs = dict(message.kwargs)
        try:
            celery.send_task(
                message.task,
                kwargs=kwargs,
                # what `inspect` and Flower show; Celery's own careful repr is a seventh of the time of an accept
                argsrepr="()",
                kwargsrepr=repr(kwargs),
                queue=message.queue,
                task_id=str(message.job_id),
                headers={name: value for name, value in headers.items() if value is not None},
                producer=producer_in(connection),
            )
        except DuplicateKey as there:
            if there.task_id is None:
                raise
            raise AlreadyQueuedError(UUID(there.task_id)) from there

    return publish
