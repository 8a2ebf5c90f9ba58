"""The heartbeat of a running job: a thread that renews its slot, writes progress, and ends a job that may not go on."""

import os
import signal
from contextvars import copy_context
from functools import partial
from math import inf
from threading import Event, Thread, current_thread, main_thread
from time import monotonic
from types import TracebackType
from typing import Any, Self

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from sqlalchemy.exc import SQLAlchemyError
from testlist.progress import Stopped

from app import machine
from app.domain.lifecycle import Delivery
from app.domain.queues import Service
from app.services.jobs.heartbeat import Pulse, beat
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork

log = structlog.get_logger(__name__)

#: How soon a new phase reaches the database, and thus the pages; progress within a phase waits for the next heartbeat.
#: A job that is shorter than this has no heartbeat.
PHASE_SECONDS = 0.5
#: A heartbeat without an answer for this many leases ends the attempt, because it would miss a cancellation.
SILENT_LEASES = 4


class JobStopped(Stopped):
    """A cancellation of this job was requested."""


class LeaseLost(Stopped):
    """The message was given to another worker, so the writes of this one are refused."""


class HeartbeatSilent(Stopped):
    """The heartbeat hangs, or has failed for too long; the message goes back, and the job runs again."""


class TimeOver(SoftTimeLimitExceeded, Stopped):
    """The attempt took too long, or its process became too large."""


class Heartbeat:
    """`with Heartbeat(…) as heart:` around the body; the body calls `heart.checkpoint` at least once a second."""

    def __init__(
        self,
        uow: UnitOfWork,
        service: Service,
        delivery: Delivery,
        policy: Policy,
        *,
        seconds: float,
        memory: float = inf,
    ) -> None:
        """Prepare the thread.  memory: bytes that the process may have."""
        self._service, self._memory = service, memory
        self.is_too_large = self._is_over = False
        self._as_before: Any = None
        self._uow, self._delivery, self._policy, self._seconds = uow, delivery, policy, seconds
        self._progress: tuple[str, int, int] | None = None
        self._pulse = Pulse.GO_ON
        self._stop = Event()
        self._written: tuple[str, int, int] | None = None
        self._answered = monotonic()
        self._is_away = False
        self._begin()

    def __enter__(self) -> Self:
        self._answered = monotonic()
        if _is_main():
            self._as_before = signal.signal(signal.SIGUSR1, self._interrupt)
        else:
            self._memory = inf  # no signal would get here
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._stop.set()
            # a hanging thread ends with its process, and writes nothing, because the fence is gone by then
            self._thread.join(None if kind is not HeartbeatSilent else 0)
        finally:
            self._stop.set()  # should the signal have come just before
            if self._as_before is not None:
                signal.signal(signal.SIGUSR1, self._as_before)

    def checkpoint(self, phase: str, done: int, total: int) -> None:
        """Report the body's progress, and watch the heartbeat.

        Raises: JobStopped, LeaseLost, HeartbeatSilent, TimeOver.
        """
        self._progress = (phase, done, total)
        if self._is_over:
            raise TimeOver
        if self._pulse is Pulse.STOP:
            raise JobStopped
        if self._pulse is Pulse.LOST:
            raise LeaseLost
        if monotonic() - self._answered > SILENT_LEASES * self._policy.lease_seconds:
            raise HeartbeatSilent
        if not self._thread.is_alive():
            log.error("heartbeat_died")
            self._begin()
            self._thread.start()

    def _interrupt(self, *_: Any) -> None:
        if self._stop.is_set():  # the body has ended
            return
        self._is_over = True  # a finalizer, or a library, may swallow what is raised
        raise TimeOver

    def _begin(self) -> None:
        # its lines carry what those of the job do
        run = partial(copy_context().run, self._run)
        self._thread = Thread(target=run, name=f"heartbeat {self._delivery.job_id}", daemon=True)

    def _run(self) -> None:
        silent = 0.0
        while not self._stop.wait(PHASE_SECONDS):
            self._weigh()
            silent += PHASE_SECONDS
            progress = self._progress
            if silent < self._seconds and _phase(progress) == _phase(self._written):
                continue
            if self._beat(progress if progress != self._written else None):
                self._written, silent = progress, 0.0

    def _weigh(self) -> None:
        """End the body as at its soft time limit, wherever it is, if the process has become too large.

        A limit of the system would be a MemoryError at any allocation instead: CPython 3.11 may spin for ever in
        unwinding it (gh-132508), and there is no memory to write down that the job has failed.
        """
        size = machine.resident()
        if size > self._memory:
            self.is_too_large = True
            self._memory = size + size // 8  # again, if something has swallowed it and it goes on to grow
            os.kill(os.getpid(), signal.SIGUSR1)

    def _beat(self, news: tuple[str, int, int] | None) -> bool:
        try:
            self._pulse = beat(self._uow, self._service, self._delivery, self._policy, news)
        except SQLAlchemyError as error:  # the database is unavailable: its clock ends the leases, not ours
            if not self._is_away:
                log.warning("heartbeat_failed", error=type(error).__name__)
            self._is_away = True
            return False
        except Exception:  # the next attempt may succeed; without the thread there is no heartbeat
            log.exception("heartbeat_raised")
            return False
        self._answered, self._is_away = monotonic(), False
        return True


def _is_main() -> bool:
    """Whether this is the thread that gets signals."""
    return current_thread() is main_thread()


def _phase(progress: tuple[str, int, int] | None) -> str | None:
    return progress and progress[0]
