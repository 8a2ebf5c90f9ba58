"""Publishing in Django's open transaction, without a word about it where a task is sent.

A message that a running task sends about itself stays out of it: `retry` and `replace` raise an exception, with which
the block around them is rolled back, and the message would be gone with it.  It is sent after the run: own_messages.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from celery import Celery
from celery._state import get_current_task
from celery.contrib.django.task import DjangoTask
from django.db import connections, transaction

from celery_durable.one_commit import given_to
from celery_durable.publish import TransactionProducer, producer_in

from .aliases import broker_options, database_of, is_open
from .own_messages import hold_back, is_after_run, sends_after

_is_alone: ContextVar[bool] = ContextVar("celery_durable_is_alone", default=False)


@contextmanager
def alone() -> Iterator[None]:
    """What is sent in this block is sent at once, in no transaction of Django's: it stays when that is rolled back."""
    token = _is_alone.set(True)
    try:
        yield
    finally:
        _is_alone.reset(token)


def joining_producer(app: Any) -> TransactionProducer | None:
    """A producer in the open transaction of the database that is the app's broker.

    None: there is no open transaction, the broker is no database of Django's, or this is a block of `alone`.
    """
    alias = None if _is_alone.get() else database_of(app)
    if alias is None or not is_open(connections[alias]):
        return None
    if is_after_run() and not connections[alias].in_atomic_block:  # without autocommit; nothing commits it any more
        return None
    return producer_in(connections[alias], broker_options(app))


class CommittedEvents:
    """Stands for Celery's dispatcher: the event `task-sent` follows the commit, and is of no message that never was."""

    def __init__(self, app: Any, alias: str) -> None:
        self._app, self._alias = app, alias

    def publish(self, event: str, fields: Any, _: Any, **options: Any) -> None:
        """Publish like Celery's dispatcher, later and with a producer of the pool."""

        def send() -> None:
            with self._app.producer_pool.acquire(block=True) as producer:
                self._app.events.Dispatcher(enabled=False).publish(event, fields, producer, **options)

        if connections[self._alias].in_atomic_block:
            # an event that cannot be sent is logged: the block is committed, and so is the caller's work
            transaction.on_commit(send, using=self._alias, robust=True)


class DurableCelery(Celery):
    """A Celery app whose messages, groups included, join the open transaction of the database that is its broker."""

    task_cls = "celery_durable.contrib.django.joining:DurableTask"

    def __init__(self, *args: Any, **options: Any) -> None:
        # Celery 5.4 puts DjangoTask in the place of a class that it was not given here
        super().__init__(*args, **{"task_cls": self.task_cls, **options})

    def producer_or_acquire(self, producer: Any = None) -> Any:
        """Give kombu's context of a producer: this one, else of the open transaction, else of the pool."""
        return super().producer_or_acquire(producer or given_to(self) or joining_producer(self))

    def send_task(self, name: str, *args: Any, **options: Any) -> Any:
        """Send like Celery; a message with the id of the task that runs here, its retry, is sent alone, after the run.

        With a `producer` or `connection` of the caller's own it is sent through that, at once.
        """
        task = get_current_task()
        if task is not None and options.get("task_id") and task.request.id == options["task_id"]:

            def send() -> Any:
                with alone():
                    return Celery.send_task(self, name, *args, **options)

            is_elsewhere = options.get("producer") or options.get("connection")
            held = not is_elsewhere and isinstance(task, DurableTask) and hold_back(send)
            return self.AsyncResult(options["task_id"]) if held else send()
        if self.conf.task_send_sent_event and joining_producer(self) is not None:
            options.setdefault("event_dispatcher", CommittedEvents(self, str(database_of(self))))
        return super().send_task(name, *args, **options)


class DurableTask(DjangoTask):
    """The class of the app's tasks, for classes of your own to inherit from."""

    abstract = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run like Celery; what the run sends about itself is sent when it has ended."""
        request = self.request_stack.top
        if request is None or request.called_directly or request._protected:  # noqa: SLF001  Celery's mark of a run
            return super().__call__(*args, **kwargs)
        request._protected = 1  # noqa: SLF001  so that a direct call in the run is none
        with sends_after(request):
            return self.run(*args, **kwargs)

    def retry(self, *args: Any, **options: Any) -> Any:
        """Retry like Celery, alone and after the run."""
        with alone():
            return super().retry(*args, **options)

    def replace(self, sig: Any) -> Any:
        """Replace like Celery, alone; a message with the id of this task is sent after the run."""
        with alone():
            return super().replace(sig)
