"""What the transport asks a Celery worker, if this process is one."""

import sys
from typing import Any


def is_stopping() -> bool:
    """A signal to stop has come, and Celery will see it when its hub turns."""
    state = _state()
    return state is not None and any(
        wanted is not None and wanted is not False for wanted in (state.should_stop, state.should_terminate)
    )


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


def _state() -> Any:
    return sys.modules.get("celery.worker.state")
