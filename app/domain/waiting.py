"""Why a job waits: as a code, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from math import ceil, floor, sqrt

from app.domain.plans import Tier
from app.domain.words import counted


class Reason(StrEnum):
    """The reason why a job waits."""

    STARTING = "starting"  #: a worker is free for it
    WORKERS_BUSY = "workers_busy"
    USER_AT_LIMIT = "user_at_limit"
    BACKOFF = "backoff"
    QUEUE_PAUSED = "queue_paused"
    NO_WORKERS = "no_workers"


@dataclass(frozen=True, slots=True)
class Wait:
    """The reason why a job has not started.

    position: in its line, 1 = next; yours_ahead: how many before it are the user's; running, limit, tier: slots of the
    user, if they are the reason; eta_*: seconds until the start, None if it cannot be estimated.
    """

    reason: Reason
    text: str
    position: int | None = None
    yours_ahead: int | None = None
    running: int | None = None
    limit: int | None = None
    eta_seconds: int | None = None
    eta_low: int | None = None
    eta_high: int | None = None
    tier: Tier | None = None

    @property
    def ahead_of_you(self) -> int | None:
        """The number of jobs before it."""
        return None if self.position is None else self.position - 1


#: Weight of the newest run in a user's moving mean.
NEWEST = 0.2


@dataclass(frozen=True, slots=True)
class Runs:
    """How long recent jobs took: mean and deviation, in seconds."""

    mean: float
    deviation: float

    @classmethod
    def following(cls, before: Runs | None, seconds: float) -> Runs:
        """The mean and deviation after one more run, calculated as TCP estimates its round trips."""
        if before is None:
            return cls(seconds, seconds / 2)
        error = abs(seconds - before.mean)
        return cls(_moved(before.mean, seconds), _moved(before.deviation, error))


@dataclass(frozen=True, slots=True)
class Line:
    """Where a job is in its queue.

    position: 1 = next; own: how many of the jobs ahead are the user's; workers: busy ones of the queue; runs: None
    before the first run; more: the job is behind the position, beyond which nothing is counted; held: the job waits for
    a slot of its user, and the position is among the user's own jobs; taken: the user's slots in use; worker_free: a
    worker of the queue is idle.
    """

    position: int
    own: int
    workers: int
    head_age_seconds: float
    paused: bool
    runs: Runs | None = None
    more: bool = False
    held: bool = False
    taken: int = 0
    worker_free: bool = False


def _moved(mean: float, newest: float) -> float:
    return mean * (1 - NEWEST) + newest * NEWEST


#: A job that was ready for this long while no worker was busy on the queue: there is no worker.
NO_WORKER_AFTER_SECONDS = 10.0


def reason_for(line: Line) -> Reason:
    """Why a ready job has not started."""
    if line.paused:
        return Reason.QUEUE_PAUSED
    if line.workers == 0 and line.head_age_seconds > NO_WORKER_AFTER_SECONDS:
        return Reason.NO_WORKERS
    if line.position == 1 and (line.worker_free or line.workers == 0):
        return Reason.STARTING
    return Reason.WORKERS_BUSY


#: Seconds added to guesses and waits before they are compared; otherwise the ratio to a guess of 0 would be unbounded.
GRAIN = 1.0
#: Four of five starts lie within this many deviations to each side, as the sums of run times are nearly normal.
_SPREAD = 1.3


def guess(line: Line, runs: Runs | None, servers: int, step: float = 0.0) -> float | None:
    """Seconds until the start if no job overtakes, with `servers` jobs running at a time; None if that is unknown.

    The job starts when the job `position` places ahead ends.  step: seconds that each of them waits for a worker.
    """
    if runs is None or line.more or line.paused:
        return None
    return (runs.mean + step) * line.position / max(1, servers)


@dataclass(frozen=True, slots=True)
class Pace:
    """Recent waits divided by their estimates: `low` is the 8th percentile of this ratio, `high` the 92nd.

    waited: mean seconds that ready jobs waited.
    """

    low: float
    middle: float
    high: float
    waited: float = 0.0

    def applied(self, guessed: float) -> tuple[int, int, int]:
        """(likely, low, high) seconds."""
        low, likely, high = (max(0.0, (guessed + GRAIN) * by - GRAIN) for by in (self.low, self.middle, self.high))
        return round(likely), floor(low), ceil(high) + 1


def eta(
    line: Line, runs: Runs | None, servers: int, pace: Pace | None = None, step: float = 0.0
) -> tuple[int, int, int] | None:
    """(likely, low, high) seconds until the start; None if that is unknown.

    With a pace, the estimate is corrected by recent waits.  Without one, it assumes that no job overtakes, and that the
    ends of the running jobs are spread evenly over one run time.
    """
    likely = guess(line, runs, servers, step)
    if likely is None or runs is None:
        return None
    if pace:
        return pace.applied(likely)
    servers = max(1, servers)
    # the mean itself is uncertain by a tenth
    spread = _SPREAD * (max(runs.deviation, runs.mean / 4) * sqrt(line.position) / servers + likely / 10)
    return round(likely), max(0, floor(likely - spread - runs.mean / servers)), ceil(likely + spread) + 1


def ready(line: Line, pace: Pace | None = None) -> Wait:
    """The `wait` of a job that is ready but not started.  pace: of ready jobs of its queue."""
    reason = reason_for(line)
    if reason is Reason.QUEUE_PAUSED:
        return paused(line)
    words = {
        Reason.NO_WORKERS: "No worker serves this queue right now; your job starts as soon as one does.",
        Reason.STARTING: "Starting.",
        Reason.WORKERS_BUSY: _place(line),
    }
    times = None if reason is Reason.NO_WORKERS else eta(line, line.runs, line.workers, pace)
    return _wait(reason, words[reason], line=line, times=times)


def paused(line: Line | None = None) -> Wait:
    """The `wait` of any job whose queue is paused: it cannot start before the queue is resumed."""
    return _wait(Reason.QUEUE_PAUSED, "The operator has paused this queue; your job keeps its place.", line=line)


def _place(line: Line) -> str:
    if line.more:
        return f"More than {line.position - 1:,} jobs are ahead."
    if line.position == 1:
        return "Your job is next: all workers are busy, and the first free one takes it."
    return f"Number {line.position} in the queue."


def at_limit(
    line: Line, limit: int, tier: Tier, runs: Runs | None, pace: Pace | None = None, step: float = 0.0
) -> Wait:
    """The `wait` of a job that waits for a slot of its user.

    runs: the user's own; pace: of such jobs of its queue; step: how long ready jobs wait there.
    """
    ahead = f"more than {line.own:,}" if line.more else f"{line.own:,}"
    text = (
        f"Your jobs use {line.taken} of {counted(limit, 'slot')} of tier {tier}, and "
        f"{ahead} of your jobs {'is' if ahead == '1' else 'are'} ahead of this one. It starts as soon as one ends."
    )
    times = eta(line, runs or line.runs, limit, pace, step)
    found = _wait(Reason.USER_AT_LIMIT, text, line=line, times=times, running=line.taken, limit=limit)
    return replace(found, tier=tier)


def elsewhere(wait: Wait) -> Wait:
    """The `wait` of a job in a user's line, without what only that user may know."""
    if wait.reason is not Reason.USER_AT_LIMIT:
        return replace(wait, yours_ahead=None)
    text = (
        "The job waits in the line of another user who asked for this commit. It starts as soon as one of that user's"
        " slots is free."
    )
    return replace(wait, text=text, position=None, yours_ahead=None, running=None, limit=None, tier=None)


def backing_off(next_try: datetime | None) -> Wait:
    """The `wait` of a job between two attempts."""
    until = f" at {next_try:%H:%M:%S} UTC" if next_try else " soon"
    return _wait(Reason.BACKOFF, f"The last attempt failed; trying again{until}.")


def _wait(
    reason: Reason,
    text: str,
    *,
    line: Line | None = None,
    times: tuple[int, int, int] | None = None,
    running: int | None = None,
    limit: int | None = None,
) -> Wait:
    likely, low, high = times or (None, None, None)
    position, own = (line.position, line.own) if line else (None, None)
    return Wait(reason, text, position, own, running, limit, likely, low, high)
