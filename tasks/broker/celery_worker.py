"""What the transport asks a Celery worker, if this process is one."""

import sys
from typing import Any

#: Celery hears of a dead child by a pipe, which closes a moment before the child can be waited for; and then it looks
#: again after five seconds only.
REAP_SECONDS = 0.3

_workers: list[Any] = []


def is_stopping() -> bool:
    """A signal to stop has come, and Celery will see it when its hub turns."""
    state = _state()
    return state is not None and any(
        wanted is not None and wanted is not False for wanted in (state.should_stop, state.should_terminate)
    )


def is_serving() -> bool:
    """A Celery worker of this process takes what is delivered."""
    return bool(_workers)


def unfinished_ids(loop: Any) -> set[str] | None:
    """The tasks the worker still knows, running or waiting; None outside of a worker.

    What has just ended is not among them, though its acknowledgement may still wait for the hub's next turn, and when
    the worker stops that comes only after the pool has.  So the acknowledgements that wait are given here.
    """
    state = _state()
    if state is None or loop is None:
        return None
    known = {request.id for request in state.reserved_requests}
    for callback in loop._pop_ready():  # noqa: SLF001  as the hub itself does when it closes
        callback()
    return known


def running_token(task_id: str | None) -> str | None:
    """The lease under which this thread runs that very task; None when it runs none, or another.

    A task that publishes itself again, by `retry` with headers of its own or by `replace`, stays one message by it.
    """
    celery = sys.modules.get("celery._state")
    task = celery and celery.get_current_task()
    request = task and task.request
    return request.get("lease_token") if request and task_id is not None and request.id == task_id else None


def _state() -> Any:
    return sys.modules.get("celery.worker.state")


def _ready(sender: Any, **_: Any) -> None:
    _workers.append(sender)


def _reap_soon(sender: Any, **_: Any) -> None:
    maintain = getattr(sender.pool, "maintain_pool", None)
    if sender.hub is not None and maintain is not None:
        sender.hub.call_repeatedly(REAP_SECONDS, maintain)


if "celery.signals" in sys.modules:  # as in every worker, long before it asks for a transport
    sys.modules["celery.signals"].worker_ready.connect(_ready)
    sys.modules["celery.signals"].worker_ready.connect(_reap_soon)
