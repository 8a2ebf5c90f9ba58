"""What the transport asks a Celery worker, if this process is one, and what it hears of its requests."""

import logging
import sys
from functools import lru_cache, wraps
from threading import current_thread, main_thread
from typing import Any

logger = logging.getLogger(__name__)

#: Celery hears of a dead child by a pipe, which closes a moment before the child can be waited for; and then it looks
#: again after five seconds only.
REAP_SECONDS = 0.3
#: As celery.bootsteps has it.
_RUN = 1

_workers: list[Any] = []
_starting: list[Any] = []


def is_stopping() -> bool:
    """A signal to stop has come, and Celery will see it when its hub turns."""
    state = _state()
    return state is not None and any(
        wanted is not None and wanted is not False for wanted in (state.should_stop, state.should_terminate)
    )


def is_serving() -> bool:
    """A Celery worker of this process takes what is delivered."""
    return bool(_workers)


def end_starting(reason: Exception) -> None:
    """A worker of this process that only begins ends with this one sentence: Celery would show its own stack.

    Raises SystemExit.
    """
    if _starting and not _workers:
        logger.critical("%s", reason)
        raise SystemExit(1)


def end_stopping() -> None:
    """A worker that was asked to stop does so although no server answers.

    Celery looks between two turns of its hub, and a heartbeat is tried again without end within one.  A task in this
    thread may end first, as a warm stop promises; and nothing ends a worker that is on its way out.  Raises SystemExit.
    """
    if not (is_stopping() and current_thread() is main_thread()) or sys.modules["celery._state"].get_current_task():
        return
    if any(consumer.controller.blueprint.state == _RUN for consumer in _workers):
        _state().maybe_shutdown()


def waiting_tags(loop: Any, held: set[str], inbox: set[str]) -> set[str]:
    """The tags of the deliveries that are held: those that a worker which stops has just forgotten, and will not run.

    None of them outside of a worker: nobody knows what a plain consumer does.  A pool with a queue of its own, of
    threads for one, may begin with any of them until it stops; what it did not begin is handed back after that.
    What has just ended is no longer known to the worker, though its acknowledgement may still wait for the hub's next
    turn, and that comes only after the pool has stopped.  So the acknowledgements that wait are given here.
    """
    state = _state()
    if state is None or loop is None:
        return set()
    if any(_has_its_own_queue(worker.pool) for worker in _workers):
        return held & inbox
    # Up to Celery 5.6 the worker has forgotten there what it runs, too.
    requests = (*state.reserved_requests, *state.active_requests)
    known = {request.message.delivery_tag for request in requests}
    for callback in loop._pop_ready():  # noqa: SLF001  as the hub itself does when it closes
        callback()
    return held - known


def _has_its_own_queue(pool: Any) -> bool:
    return not pool.uses_semaphore


def begun_tags() -> list[str]:
    """The deliveries whose code runs; from any thread."""
    state = _state()
    for _ in range(5 if state else 0):
        try:
            return [request.message.delivery_tag for request in list(state.active_requests)]
        except RuntimeError:  # another thread began or ended one just now
            continue
    return []


def running_lease(task_id: str | None) -> tuple[str | None, bool]:
    """-> the lease under which this thread runs that very task, or None, and whether its message has ended.

    A task that publishes itself again, by `retry` with headers of its own or by `replace`, stays one message by it.
    Celery acknowledges before the task runs, by default: then there is no lease under which a retry could stay the same
    message; it is another one.
    """
    celery = sys.modules.get("celery._state")
    task = celery and celery.get_current_task()
    if not task or task_id is None or task.request.id != task_id:
        return None, False
    return task.request.get("lease_token"), not task.acks_late


def _state() -> Any:
    return sys.modules.get("celery.worker.state")


class NotedEnd:
    """Mixed into Celery's requests: its message hears how the delivery came to its end."""

    message: Any

    def on_failure(self, exc_info: Any, send_failed_event: bool = True, return_ok: bool = False) -> Any:  # noqa: FBT002
        """Celery's.  An outcome that the task's process did not tell itself is the end of that process."""
        if not return_ok:
            self.message.died = not is_stopping()
        return super().on_failure(exc_info, send_failed_event, return_ok)  # type: ignore[misc]

    def on_timeout(self, soft: bool, timeout: float) -> Any:
        """Celery's.  At the hard limit the process is killed."""
        if not soft:
            self.message.died = not is_stopping()
        return super().on_timeout(soft, timeout)  # type: ignore[misc]


@lru_cache(maxsize=64)
def _noting_end(request: Any) -> Any:
    return request if issubclass(request, NotedEnd) else type(request.__name__, (NotedEnd, request), {})


def _listen(sender: Any, **_: Any) -> None:
    """Celery asks each task for the class of its requests, a little later."""
    symbol_by_name = sys.modules["kombu.utils.imports"].symbol_by_name
    for task in sender.app.tasks.values():
        task.Request = _noting_end(symbol_by_name(task.Request))


def _begins(sender: Any, **_: Any) -> None:
    """In the task's process.  A message that came back before is marked as begun, should a whole node die of it.

    A first delivery is marked by the node's next heartbeat: jobs are shorter as a rule, and this costs a session.
    """
    request = sender.request
    if not (request.get("lease_token") and (request.delivery_info or {}).get("redelivered")):
        return
    try:
        with sender.app.connection_for_read() as connection:
            mark = getattr(connection.transport, "begin", None)
            if mark is not None:
                mark(request.id, request.lease_token)
    except Exception as error:  # noqa: BLE001  a database that is away is the task's own concern
        logger.warning("event=begin_not_marked task=%s error=%r", request.id, str(error).strip())


def _cancelling(command: Any) -> Any:
    """Celery's command `revoke`, which each worker remembers until it ends, so that a delay outlasts it.

    Here what waits in the table goes as well.  Every worker that hears it may try: the first one finds something.
    """

    @wraps(command)
    def cancel(state: Any, task_id: Any = None, **arguments: Any) -> Any:
        try:
            revoke = getattr(state.consumer.connection.transport, "revoke", None)
            if revoke is not None and task_id:
                revoke([task_id] if isinstance(task_id, str) else list(task_id))
        except Exception as error:  # noqa: BLE001  the worker remembers it in any case
            logger.warning("event=revoke_not_written tasks=%s error=%r", task_id, str(error).strip())
        return command(state, task_id, **arguments)

    return cancel


def _listen_to_revokes(**_: Any) -> None:
    """Replace Celery's own commands.  Those of an application decide by themselves what becomes of a task's row."""
    control = sys.modules["celery.worker.control"]
    for name in ("revoke", "terminate"):
        if control.Panel.data[name] is getattr(control, name):
            control.Panel.data[name] = _cancelling(control.Panel.data[name])


def _start(sender: Any, **_: Any) -> None:
    _starting.append(sender)


def _ready(sender: Any, **_: Any) -> None:
    _workers.append(sender)


def _reap_soon(sender: Any, **_: Any) -> None:
    maintain = getattr(sender.pool, "maintain_pool", None)
    if sender.hub is not None and maintain is not None:
        sender.hub.call_repeatedly(REAP_SECONDS, maintain)


if "celery.signals" in sys.modules:  # as in every worker, long before it asks for a transport
    sys.modules["celery.signals"].worker_ready.connect(_ready)
    sys.modules["celery.signals"].worker_ready.connect(_reap_soon)
    sys.modules["celery.signals"].worker_init.connect(_start)
    sys.modules["celery.signals"].worker_init.connect(_listen)
    sys.modules["celery.signals"].worker_ready.connect(_listen_to_revokes)
    sys.modules["celery.signals"].task_prerun.connect(_begins)
