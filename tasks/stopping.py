"""How a worker stops: running jobs get a short grace, then they are handed back without spending an attempt.

Celery's warm shutdown waits for running tasks without a limit.  A supervisor does not: it kills, and each kill would
cost the job an attempt (docs/broker-hazards.md H26).
"""

import os
import signal
import socket
from contextlib import suppress
from time import monotonic
from typing import Any

import structlog
from celery.bootsteps import StartStopStep
from celery.signals import worker_process_init
from celery.worker import state

log = structlog.get_logger(__name__)

#: How often the grace checks whether everything has ended.
LOOK_SECONDS = 0.05
#: How long to wait for a killed process, which ends at once unless it hangs in the kernel.
REAP_SECONDS = 1.0


class HandBack(StartStopStep):
    """A step between the end of the consumer and the end of the pool."""

    label = "HandBack"
    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        super().__init__(worker, **kwargs)
        self._bell: socket.socket | None = None
        self._wire: socket.socket | None = None

    def register_with_event_loop(self, _: Any, hub: Any) -> None:
        """Let a signal wake the loop; otherwise Celery notices it when the loop turns, up to a second later."""
        if self._bell is None:
            self._bell, self._wire = socket.socketpair()
            self._bell.setblocking(False)
            self._wire.setblocking(False)
            signal.set_wakeup_fd(self._wire.fileno(), warn_on_full_buffer=False)
        hub.add_reader(self._bell, self._rung)

    def start(self, worker: Any) -> None:
        """Nothing to do at the start."""

    def stop(self, worker: Any) -> None:
        """Warm stop: after the grace.  The consumer has handed back deliveries that were not started."""
        self._end(worker, worker.app.conf.worker_soft_shutdown_timeout)

    def terminate(self, worker: Any) -> None:
        """Cold stop: at once."""
        self._end(worker, 0.0)

    def _end(self, worker: Any, grace: float) -> None:
        processes = list(getattr(getattr(worker.pool, "_pool", None), "_pool", ()))
        consuming = getattr(getattr(worker, "consumer", None), "task_consumer", None)
        # no pool of processes, or a signal before anything was consumed: there is nothing to hand back
        if worker.hub is None or not processes or consuming is None:
            return
        with suppress(*worker.consumer.connection_errors):  # make the loop let the processes go
            _wait(worker.hub, grace)
        cut = len(state.reserved_requests)
        _kill(processes)
        # after they have ended, so that no job runs twice at the same time; a write under way is done or undone by then
        consuming.channel.basic_recover(requeue=True)
        log.info("stopped", grace_seconds=grace, handed_back=cut)

    def _rung(self) -> None:
        with suppress(BlockingIOError):
            while self._bell is not None and self._bell.recv(4096):
                pass


def _wait(hub: Any, seconds: float) -> None:
    """Turn the loop, which reads the pool's results, until no task runs."""
    deadline = monotonic() + seconds
    ticking = hub.call_repeatedly(LOOK_SECONDS, lambda: None)
    for _ in hub.create_loop():
        if not state.reserved_requests or monotonic() >= deadline:
            break
    ticking.cancel()


def _kill(processes: list[Any]) -> None:
    # idle processes as well, because each would wait for the end of the pool's bookkeeping (H33)
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    for process in processes:
        process.join(REAP_SECONDS)


@worker_process_init.connect
def _unwire(**_: Any) -> None:
    signal.set_wakeup_fd(-1)  # a child must not inherit its parent's signal handling
