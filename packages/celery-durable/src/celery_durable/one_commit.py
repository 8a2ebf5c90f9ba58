"""A group of Celery's canvas is published in one commit, and so are its chunks and the header of its chord.

Celery publishes a group's messages one by one: n commits, and half a group where the publisher dies in between.  And it
forgets the producer that a chain or a chord was given, so that these left the caller's transaction, or their group.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from importlib import import_module
from typing import Any

from kombu.exceptions import OperationalError
from kombu.utils.functional import retry_over_time

from .database import CONNECTION_ERRORS
from .publish import TransactionProducer

#: What `retry_over_time` takes of Celery's `task_publish_retry_policy`.
POLICY = ("max_retries", "interval_start", "interval_step", "interval_max")

#: (app, the producer that its chain or chord was given)
_given: ContextVar[tuple[Any, Any] | None] = ContextVar("celery_durable_given_producer", default=None)


def publish_canvas_in_one_commit() -> None:
    """Replace Celery's own way for what this process publishes through this transport."""
    canvas, app = import_module("celery.canvas"), import_module("celery.app.base").Celery
    canvas.group._apply_tasks = _in_one_commit(canvas.group._apply_tasks)  # noqa: SLF001
    canvas._chain.run = _passes_on(canvas._chain.run)  # noqa: SLF001
    canvas._chord.apply_async = _passes_on(canvas._chord.apply_async)  # noqa: SLF001
    app.producer_or_acquire = _takes_given(app.producer_or_acquire)


def _in_one_commit(apply_tasks: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    @wraps(apply_tasks)
    def publish(self: Any, tasks: Any, producer: Any = None, app: Any = None, *args: Any, **options: Any) -> Any:
        app = app or self.app
        with app.producer_or_acquire(producer) as sender:
            if not (_is_ours(sender) and hasattr(sender, "batch")):  # kombu has batches from 5.7 on
                yield from apply_tasks(self, tasks, sender, app, *args, **options)
                return
            # The size has no limit: a part that is stored before the rest would be a commit of its own.
            with sender.batch(max_size=sys.maxsize) as batch:
                yield from apply_tasks(self, tasks, sender, app, *args, **options)
                if batch.is_outermost and not isinstance(sender, TransactionProducer):
                    _flush(batch.flush, app, options)

    return publish


def _passes_on(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        producer = options.get("producer")
        if producer is None:
            return method(self, *args, **options)
        with _giving((options.get("app") or self.app, producer) if _is_ours(producer) else None):
            return method(self, *args, **options)

    return call


def _takes_given(producer_or_acquire: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(producer_or_acquire)
    def acquire(self: Any, producer: Any = None) -> Any:
        context = producer_or_acquire(self, producer or given_to(self))
        return context if _given.get() is None else _alone(context)

    return acquire


def given_to(app: Any) -> Any:
    """The producer that a chain or chord of this app was given, while Celery looks for one; None otherwise."""
    given = _given.get()
    return given[1] if given is not None and given[0] is app else None


@contextmanager
def _giving(given: tuple[Any, Any] | None) -> Iterator[None]:
    token = _given.set(given)
    try:
        yield
    finally:
        _given.reset(token)


@contextmanager
def _alone(context: Any) -> Iterator[Any]:
    """For what the chain itself sends; a handler of a signal that sends a task meanwhile was given nothing."""
    with _giving(None), context as producer:
        yield producer


def _is_ours(producer: Any) -> bool:
    """Whether it publishes through this transport."""
    if isinstance(producer, TransactionProducer):
        return True
    return hasattr(getattr(producer.connection, "transport", None), "publishes_groups")


def _flush(flush: Callable[[], None], app: Any, options: dict[str, Any]) -> None:
    """Store the messages, again after a lost session as Celery does for one message: twice is once, by their ids.

    Raises kombu's OperationalError as it does, and what `publish.put` does.
    """
    wanted = options.get("retry")
    policy = {**app.conf.task_publish_retry_policy, **(options.get("retry_policy") or {})}
    try:
        if not (app.conf.task_publish_retry if wanted is None else wanted):
            flush()
        else:
            retry_over_time(flush, CONNECTION_ERRORS, **{name: policy[name] for name in POLICY if name in policy})
    except CONNECTION_ERRORS as error:
        raise OperationalError(str(error)) from error
