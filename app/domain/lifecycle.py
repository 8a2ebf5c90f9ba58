"""The states of a job, its legal moves, and the outcomes of one delivery (docs/adr/0008)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from app.domain.queues import Service


class Status(StrEnum):
    """The state that a user sees.  The last three are final."""

    QUEUED = "queued"
    WAITING = "waiting"  #: snoozed or parked: over the user's slot limit
    RUNNING = "running"
    RETRYING = "retrying"  #: an attempt failed, the next one is due later
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})


class RecordStatus(StrEnum):
    """The state that the worker writes; the value is the PostgreSQL enum `analysis_status`."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


#: For each state, the states that a job may go to next.
MOVES: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.RUNNING, Status.WAITING, Status.CANCELLED, Status.FAILED}),
    Status.WAITING: frozenset({Status.QUEUED, Status.CANCELLED}),
    Status.RUNNING: frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.RETRYING, Status.QUEUED}),
    Status.RETRYING: frozenset({Status.QUEUED, Status.RUNNING, Status.CANCELLED}),
    Status.COMPLETED: frozenset(),
    Status.FAILED: frozenset(),
    Status.CANCELLED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of attempts, and the unit of the n² units before attempt n + 1."""

    max_attempts: int
    unit: timedelta

    def backoff(self, attempt: int, roll: float) -> timedelta:
        """Delay after failed attempt `attempt` (1-based): n² units plus up to 10 % jitter.  roll: 0 <= roll < 1."""
        return self.unit * attempt**2 * (1 + 0.1 * roll)


RETRIES = {
    Service.ANALYSIS: RetryPolicy(3, timedelta(seconds=1)),
    Service.SPECVIEW: RetryPolicy(3, timedelta(seconds=10)),
}


@dataclass(frozen=True, slots=True)
class Delivery:
    """One leased delivery of a job's message.  The token is the fence: a write under an old token changes nothing."""

    job_id: UUID
    lease_token: UUID
    retry_count: int = 0  # attempts that ended in an error
    lost_count: int = 0  # attempts whose worker died

    @property
    def attempt(self) -> int:
        """Number the attempt, from 1; a snooze spends none."""
        return self.retry_count + self.lost_count + 1


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt or a job failed.  code: stable; message: plain words without secrets."""

    code: str
    message: str
    retryable: bool = False


class JobFailedError(Exception):
    """Raised by the body of a job; the attempt ends with this failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


WORKER_LOST = Failure(
    "worker_lost", "The job's worker died on every attempt; the job may need more memory than is available."
)


class Outcome(StrEnum):
    """How one delivery ended."""

    STARTED = "started"  #: slot taken, record running: the task may run
    SNOOZED = "snoozed"  #: over the limit; the message sleeps
    COMPLETED = "completed"
    RETRY = "retry"  #: failed, another attempt is scheduled
    FAILED = "failed"  #: failed for good
    CANCELLED = "cancelled"
    STALE = "stale"  #: a zombie: another worker has the lease, and nothing was written
