"""Turn Celery's `revoke` of a job into the service's cancellation.

Celery acknowledges what it revokes.  That would delete the message of an unfinished job, and leave no record, no end,
and a reservation without a job.  Here a job ends in our own commit (docs/adr/0006), revoked or not.
"""

from signal import SIGKILL
from typing import Any

from billiard.einfo import ExceptionWithTraceback
from celery.platforms import signals
from celery.worker import state
from celery.worker.request import Request
from celery.worker.state import task_ready
from celery_durable.celery_worker import is_stopping

from tasks.backoff import DatabaseAway
from tasks.revoking import cancel_jobs


class FairRequest(Request):
    """A delivery, as the worker's main process sees it."""

    _is_asked = False
    acknowledged: bool  # Celery's

    def revoked(self) -> bool:
        """Always False: the delivery goes to a child, which finds that it was cancelled, and ends the job."""
        if self.id in state.revoked:
            self._cancel()
        return False

    def acknowledge(self) -> None:
        """Every outcome that Celery acknowledges was a commit that deleted or rescheduled the message."""
        if not self.acknowledged:
            self._message.settled()
            self.acknowledged = True

    def on_failure(self, exc_info: Any, *args: Any, **kwargs: Any) -> None:
        """If the database failed, give the delivery back without counting a loss."""
        error = exc_info.exception
        if not isinstance(error.exc if isinstance(error, ExceptionWithTraceback) else error, DatabaseAway):
            super().on_failure(exc_info, *args, **kwargs)
            return
        task_ready(self)
        self.acknowledged = True
        self._message.returned()

    def reject(self, requeue: bool = False) -> None:  # noqa: FBT001, FBT002 - Celery's
        """While the worker stops, count nothing: a supervisor that signals the whole group has ended the child too."""
        if not (requeue and is_stopping()):
            super().reject(requeue)

    def terminate(self, pool: Any, signal: Any = None) -> None:
        """Cancel the job, which stops within seconds; KILL ends its process now, and its next delivery ends the job."""
        self._cancel()
        if self.time_start and signals.signum(signal or "TERM") == SIGKILL:
            pool.terminate_job(self.worker_pid, SIGKILL)

    def _announce_revoked(self, *_: Any) -> None:
        """The process was killed by `terminate`: give the message back, where Celery would acknowledge it."""
        self.reject(requeue=True)

    def _cancel(self) -> None:
        if not self._is_asked:
            self._is_asked = True
            cancel_jobs([self.id])
