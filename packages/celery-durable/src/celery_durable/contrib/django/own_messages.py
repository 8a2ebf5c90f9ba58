"""The messages that a running task sends about itself, held back until its run has ended.

A retry changes the row of the message that runs, in a session of its own.  A block of the task that holds this row, by
`fence`, `start` or `delete`, would wait for the retry, and the retry for the block: for ever, since PostgreSQL sees
only one of the two waits.  So while this thread has a transaction open, the message is sent when the run is over,
whether the block was committed or rolled back.  A process that dies in between loses its lease, and the task is
delivered again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from celery._state import get_current_task
from celery.exceptions import Reject
from django.db import connections

from .aliases import is_open

#: Sends a message.
Send = Callable[[], Any]

#: What the run of this thread has held back; None outside of a run.
_held: ContextVar[list[Send] | None] = ContextVar("celery_durable_held", default=None)


def hold_back(send: Send) -> bool:
    """Have it sent after the run; False: there is no run, or no transaction to wait for, so send it now."""
    held = _held.get()
    if held is None or not any(map(is_open, connections.all(initialized_only=True))):
        return False
    held.append(send)
    return True


@contextmanager
def sends_after(request: Any) -> Iterator[None]:
    """The block is the run of a task.  Raises Reject, as Celery's `retry` does, if a message cannot be sent."""
    held: list[Send] = []
    token = _held.set(held)
    try:
        yield
    finally:
        _held.reset(token)
        request.durable_run_is_over = not request.is_eager  # an eager one is a part of what the caller does
        if held:
            _end_open_transactions()
        try:
            for send in held:
                send()
        except Exception as error:
            raise Reject(error, requeue=False) from error


def is_after_run() -> bool:
    """Whether the task's code has ended: what Celery sends now, the rest of a chain, has no commit to wait for."""
    task = get_current_task()
    return task is not None and getattr(task.request, "durable_run_is_over", False)


def _end_open_transactions() -> None:
    """Without autocommit a run can end in a transaction, which nothing would commit any more."""
    for connection in connections.all(initialized_only=True):
        if is_open(connection) and not connection.in_atomic_block:
            connection.rollback()
