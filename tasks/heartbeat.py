"""The pulse of a running job: a thread that keeps its slot and hears of a cancellation."""

from threading import Event, Thread
from types import TracebackType
from typing import Self

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.domain.lifecycle import Delivery
from app.services.heartbeat import Pulse, beat
from app.services.policy import Policy
from app.store.unit_of_work import UnitOfWork

log = structlog.get_logger(__name__)

#: How often progress reaches the database while it moves, and so what a page shows.
PROGRESS_SECONDS = 0.5


class JobStopped(Exception):  # noqa: N818 - not a failure
    """Somebody asked to cancel this job."""


class LeaseLost(Exception):  # noqa: N818 - not a failure of the job
    """The message was given to another worker; whatever this one writes is refused."""


class Heartbeat:
    """`with Heartbeat(…) as heart:` around the body; the body calls `heart.checkpoint` at least once a second."""

    def __init__(self, uow: UnitOfWork, delivery: Delivery, policy: Policy, *, seconds: float) -> None:
        self._uow, self._delivery, self._policy, self._seconds = uow, delivery, policy, seconds
        self._progress: tuple[str, int, int] | None = None
        self._pulse = Pulse.GO_ON
        self._stop = Event()
        self._thread = Thread(target=self._run, name=f"heartbeat {delivery.job_id}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def checkpoint(self, phase: str, done: int, total: int) -> None:
        """Tell how far the body is.  Raises: JobStopped, LeaseLost."""
        self._progress = (phase, done, total)
        if self._pulse is Pulse.STOP:
            raise JobStopped
        if self._pulse is Pulse.LOST:
            raise LeaseLost

    def _run(self) -> None:
        told, silent = None, 0.0
        while not self._stop.wait(PROGRESS_SECONDS):
            silent += PROGRESS_SECONDS
            news = self._progress if self._progress != told else None
            if news is None and silent < self._seconds:
                continue
            try:
                self._pulse = beat(self._uow, self._delivery, self._policy, news)
            except SQLAlchemyError as error:  # the database is away: the leases end by its clock, not by ours
                log.warning("heartbeat_failed", job_id=str(self._delivery.job_id), error=type(error).__name__)
                continue
            told, silent = news or told, 0.0
