"""Why a job waits, in a code, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import ceil, floor, sqrt
from typing import Any


class Reason(StrEnum):
    """What a job waits for."""

    STARTING = "starting"  #: a worker is free for it
    WORKERS_BUSY = "workers_busy"
    USER_AT_LIMIT = "user_at_limit"
    BACKOFF = "backoff"
    QUEUE_PAUSED = "queue_paused"
    NO_WORKERS = "no_workers"


#: What the newest run weighs in a user's moving mean.
NEWEST = 0.2


@dataclass(frozen=True, slots=True)
class Runs:
    """How long jobs took of late: mean and deviation, seconds."""

    mean: float
    deviation: float

    @classmethod
    def following(cls, before: Runs | None, seconds: float) -> Runs:
        """With one more run: a mean and its error as TCP estimates its round trips."""
        if before is None:
            return cls(seconds, seconds / 2)
        error = abs(seconds - before.mean)
        return cls(_moved(before.mean, seconds), _moved(before.deviation, error))


@dataclass(frozen=True, slots=True)
class Line:
    """Where a job stands.

    position: 1 = next; own: how many before it are the user's; workers: busy on the queue; runs: None before the first;
    more: it stands behind the position, which is counted only so far; held: until a slot of the user's is free, and the
    position is among the user's own; taken: slots of the user; worker_free: a worker of the queue has nothing to do.
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


#: Ready for so long with nobody at work on the queue: there is no worker.
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


#: Seconds added to guesses and waits before they are compared, or a guess of nothing would be wrong without bounds.
GRAIN = 1.0
#: Deviations to each side that four of five starts lie between: the sums of run times are nearly normal.
_SPREAD = 1.3


def guess(line: Line, runs: Runs | None, servers: int, step: float = 0.0) -> float | None:
    """Seconds until the start, with so many jobs at a time, if nobody overtakes; None where nobody can tell.

    The start is the end of the job `position` places before.  step: what each of them waits for a worker, beside.
    """
    if runs is None or line.more or line.paused:
        return None
    return (runs.mean + step) * line.position / max(1, servers)


@dataclass(frozen=True, slots=True)
class Pace:
    """How waits of late came out beside their guesses, as quotients: below `low` a tenth, below `high` nine in ten.

    waited: seconds that ready jobs waited, in the mean.
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
    """(likely, low, high) seconds until the start; None where nobody can tell.

    With a pace by what was learnt of late; without, as if nobody overtook and what runs now ended evenly over one run.
    """
    likely = guess(line, runs, servers, step)
    if likely is None or runs is None:
        return None
    if pace:
        return pace.applied(likely)
    servers = max(1, servers)
    # the mean itself is a guess, by a tenth
    spread = _SPREAD * (max(runs.deviation, runs.mean / 4) * sqrt(line.position) / servers + likely / 10)
    return round(likely), max(0, floor(likely - spread - runs.mean / servers)), ceil(likely + spread) + 1


def ready(line: Line, pace: Pace | None = None) -> dict[str, Any]:
    """The `wait` of a job that is ready but not started.  pace: of such jobs of its queue."""
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


def paused(line: Line | None = None) -> dict[str, Any]:
    """The `wait` of any job whose queue is paused: whatever else it waits for, it cannot start before that ends."""
    return _wait(Reason.QUEUE_PAUSED, "The operator has paused this queue; your job keeps its place.", line=line)


def _place(line: Line) -> str:
    if line.more:
        return f"More than {line.position - 1:,} jobs are ahead."
    if line.position == 1:
        return "Your job is next: all workers are busy, and the first free one takes it."
    return f"Number {line.position} in the queue."


def at_limit(
    line: Line, limit: int, tier: str, runs: Runs | None, pace: Pace | None = None, step: float = 0.0
) -> dict[str, Any]:
    """The `wait` of a job that is held until a slot of its user is free.

    runs: the user's own; pace: of such jobs of its queue; step: what ready ones wait there.
    """
    ahead = f"more than {line.own:,}" if line.more else f"{line.own:,}"
    text = (
        f"Waiting for your slot: {line.taken} of {limit} running on tier {tier}, "
        f"{ahead} of your jobs {'is' if ahead == '1' else 'are'} ahead of this one. It starts as soon as one ends."
    )
    times = eta(line, runs or line.runs, limit, pace, step)
    return _wait(Reason.USER_AT_LIMIT, text, line=line, times=times, running=line.taken, limit=limit)


def backing_off(next_try: datetime | None) -> dict[str, Any]:
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
) -> dict[str, Any]:
    likely, low, high = times or (None, None, None)
    return {
        "reason": reason.value,
        "position": line.position if line else None,
        "ahead_of_you": line.position - 1 if line else None,
        "yours_ahead": line.own if line else None,
        "running": running,
        "limit": limit,
        "eta_seconds": likely,
        "eta_low": low,
        "eta_high": high,
        "text": text,
    }
