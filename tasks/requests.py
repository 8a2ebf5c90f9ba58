"""Celery's `revoke` of a job, as the service's cancellation.

Celery acknowledges what it revokes.  That would delete the message of an unfinished job: no record, no end, and a
reservation that belongs to nothing.  Here a job ends in our own commit (docs/adr/0006), revoked or not.
"""

import threading
from datetime import UTC, datetime
from signal import SIGKILL
from typing import Any
from uuid import UUID

import structlog
from celery.platforms import signals
from celery.worker import state
from celery.worker.request import Request

from app.database import database_url
from app.services.cancel import revoke
from app.settings import load
from app.store.connections import make_engine
from app.store.unit_of_work import UnitOfWork

log = structlog.get_logger(__name__)


class FairRequest(Request):
    """A delivery, as the worker's main process sees it."""

    _asked = False
    acknowledged: bool  # Celery's

    def revoked(self) -> bool:
        """Never to Celery: the delivery goes to a child, finds that it was cancelled, and ends the job."""
        if self.id in state.revoked:
            self._cancel()
        return False

    def acknowledge(self) -> None:
        """Every outcome that Celery acknowledges was a commit that deleted or re-scheduled the message."""
        if not self.acknowledged:
            self._message.settled()
            self.acknowledged = True

    def terminate(self, pool: Any, signal: Any = None) -> None:
        """The job stops by itself within seconds; with KILL its process ends now, the job by its next delivery."""
        self._cancel()
        if self.time_start and signals.signum(signal or "TERM") == SIGKILL:
            pool.terminate_job(self.worker_pid, SIGKILL)

    def _announce_revoked(self, *_: Any) -> None:
        """Its process was killed by `terminate`: the message goes back, where Celery would acknowledge it."""
        self.reject(requeue=True)

    def _cancel(self) -> None:
        # The loop of the worker must not wait for a user's lock.
        if not self._asked:
            self._asked = True
            threading.Thread(target=_cancel, args=(UUID(self.id),), name=f"cancel {self.id}", daemon=True).start()


def _cancel(job_id: UUID) -> None:
    # The main process has no engine of its own, and keeps none: it forks.
    engine = make_engine(database_url(load()), pool_size=1, application_name="fairlane revoke")
    try:
        done = revoke(UnitOfWork(engine), job_id, actor="celery control", now=datetime.now(UTC))
        log.info("revoked", job_id=str(job_id), changed=done)
    except Exception:
        log.exception("revoke_failed", job_id=str(job_id))
    finally:
        engine.dispose()
