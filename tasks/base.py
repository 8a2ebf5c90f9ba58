"""The base class of tasks, which enforces each user's slot limit (docs/adr/0003)."""

from datetime import timedelta
from random import random
from time import monotonic
from typing import Any, ClassVar, NoReturn
from uuid import UUID

import structlog
from celery import Task
from celery.exceptions import Ignore, Reject, Retry, SoftTimeLimitExceeded
from celery_durable.publish import producer_in
from sqlalchemy.exc import SQLAlchemyError
from testlist.errors import InventoryError

from app import telemetry
from app.domain.lifecycle import Delivery, Failure, JobFailedError, Outcome
from app.domain.queues import Service
from app.services.jobs.fail import fail, stop
from app.services.jobs.start import start
from app.store.core.database_errors import code_of, is_databases
from app.store.core.unit_of_work import Tx
from tasks.backoff import DatabaseAway, backoff
from tasks.heartbeat import Heartbeat, HeartbeatSilent, JobStopped, LeaseLost
from tasks.wiring import WorkerWiring, wired

log = structlog.get_logger(__name__)


class FairTask(Task):
    """Runs its body under a slot of the user, or snoozes; the outcome of each delivery is one commit.

    The body gets `self.delivery` and `self.heart`, finishes the job through a service, and returns its outcome.  The
    commit that ends the delivery frees the slot.  `after_return` does not, because Celery skips it for Ignore, Retry
    and Reject (docs/broker-hazards.md H22).
    """

    abstract = True
    acks_late = True
    Request = "tasks.celery_requests:FairRequest"
    max_retries = None  # we count attempts ourselves; Celery's own count includes snoozes (H21)
    service: ClassVar[Service]
    delivery: Delivery
    heart: Heartbeat
    #: What the delivery before this one raised.
    raised: BaseException | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Handle one delivery from its start to an outcome."""
        if self.raised is not None:
            # it refers to Celery's frame, and that to a copy of all its code: a cycle of 0.4 MB.  Billiard holds it for
            # a job longer; then only a full collection finds it, some hundred jobs later
            self.raised.__traceback__ = None
            self.raised = None
        try:
            return self._handle(args, kwargs)
        except BaseException as error:
            self.raised = error
            raise

    def _handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        kit, user_id = wired(), kwargs.get("user_id")
        user = UUID(user_id) if user_id else None
        self.delivery = _delivery(self.request)
        try:
            return self._take(kit, user, args, kwargs).value
        except SQLAlchemyError as error:
            if not is_databases(error):
                raise
            # uncommitted work is undone; the attempt is not spent, and starts again
            log.warning("database_away", error=type(error).__name__, code=code_of(error))
            backoff.pause()
            raise DatabaseAway(type(error).__name__, requeue=True) from error
        except HeartbeatSilent as error:
            log.warning("heartbeat_silent")
            raise DatabaseAway(type(error).__name__, requeue=True) from error

    def _take(self, kit: WorkerWiring, user: UUID | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Outcome:
        began = monotonic()
        outcome = start(
            kit.uow,
            self.delivery,
            self.service,
            user,
            kit.policy,
            snooze=self._snooze,
            roll=random(),  # noqa: S311 - jitter
        )
        if outcome is Outcome.STARTED:
            log.info("started")
            outcome = self._perform(kit, user, args, kwargs)
        backoff.reset()
        log.log(_LEVEL.get(outcome, 20), outcome.value, seconds=round(monotonic() - began, 3))
        telemetry.note_outcome(outcome.value)
        if outcome in (Outcome.SNOOZED, Outcome.RETRY):
            raise self._retried
        if outcome is not Outcome.COMPLETED:
            raise Ignore
        return outcome

    def _perform(self, kit: WorkerWiring, user: UUID | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Outcome:
        settings = kit.settings
        seconds, memory = settings.heartbeat_seconds, settings.job_memory_mb << 20
        self.heart = Heartbeat(kit.uow, self.service, self.delivery, kit.policy, seconds=seconds, memory=memory)
        try:
            with self.heart:
                return Outcome(self.run(*args, **kwargs))
        except HeartbeatSilent:
            raise
        except LeaseLost:
            return Outcome.STALE
        except JobStopped:
            return stop(kit.uow, self.delivery, self.service, user)
        except Exception as error:
            if is_databases(error):
                raise
            return self._failed(kit, user, MemoryError() if self.heart.is_too_large else error)

    def _failed(self, kit: WorkerWiring, user: UUID | None, error: Exception) -> Outcome:
        return fail(
            kit.uow,
            self.delivery,
            self.service,
            user,
            failure_of(error),
            retry=self._retry,
            roll=random(),  # noqa: S311 - jitter
        )

    def _snooze(self, tx: Tx, delay: timedelta, queue: str, parked: bool) -> None:  # noqa: FBT001 - as the service calls it
        self._reschedule(tx, delay, queue, snooze=True, park=parked)

    def _retry(self, tx: Tx, delay: timedelta, queue: str | None) -> None:
        self._reschedule(tx, delay, queue, snooze=False)

    def _reschedule(self, tx: Tx, delay: timedelta, queue: str | None, *, snooze: bool, park: bool = False) -> None:
        try:
            # Celery's own retry; the transport makes it one update of the leased row, in the caller's transaction
            self._retried: Retry = self.retry(
                countdown=delay.total_seconds(),
                throw=False,
                queue=queue,
                snooze=snooze,
                park=park,
                producer=producer_in(tx.connection),
            )
        except Reject as rejected:  # Celery's wrapper of a publish error; the transaction must see the error itself
            _unwrap(rejected)


def failure_of(error: Exception) -> Failure:
    """The failure for an attempt that raised: a stable code, and words for the user."""
    match error:
        case JobFailedError():
            return error.failure
        case InventoryError():
            return Failure(error.code, error.message, error.retryable)
        case SoftTimeLimitExceeded():
            return Failure("time_limit", "The job took longer than allowed.", retryable=True)
        case MemoryError():
            return Failure("out_of_memory", "The job needed more memory than a worker has.", retryable=True)
    log.error("attempt_raised", exc_info=error)
    return Failure("internal_error", "The service failed; the error was logged.", retryable=True)


_LEVEL = {Outcome.SNOOZED: 10, Outcome.RETRY: 30, Outcome.STALE: 30, Outcome.FAILED: 30}


def _delivery(request: Any) -> Delivery:
    return Delivery(UUID(request.id), UUID(request.lease_token), int(request.retry_count), int(request.lost_count))


def _unwrap(rejected: Reject) -> NoReturn:
    reason = rejected.reason
    raise reason if isinstance(reason, BaseException) else rejected
