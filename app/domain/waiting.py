"""Why a job waits, in a code, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """What a job waits for."""

    WORKERS_BUSY = "workers_busy"
    USER_AT_LIMIT = "user_at_limit"
    BACKOFF = "backoff"
    QUEUE_PAUSED = "queue_paused"
    NO_WORKERS = "no_workers"


@dataclass(frozen=True, slots=True)
class Line:
    """Where a ready job stands.

    position: 1 = next; own: how many before it are the user's; workers: busy on the queue; run_seconds: 10th, 50th and
    90th percentile of the last jobs, None before the first; more: it stands behind the position, which is counted only
    so far.
    """

    position: int
    own: int
    workers: int
    head_age_seconds: float
    paused: bool
    run_seconds: tuple[float, ...] | None = None
    more: bool = False


#: Ready for so long with nobody at work on the queue: there is no worker.
NO_WORKER_AFTER_SECONDS = 10.0


def reason_for(line: Line) -> Reason:
    """Why a ready job has not started."""
    if line.paused:
        return Reason.QUEUE_PAUSED
    if line.workers == 0 and line.head_age_seconds > NO_WORKER_AFTER_SECONDS:
        return Reason.NO_WORKERS
    return Reason.WORKERS_BUSY


def eta(line: Line) -> tuple[int, int, int] | None:
    """(likely, low, high) seconds until the start, from recent run times; None where nobody can tell."""
    if line.run_seconds is None or line.more:
        return None
    low, middle, high = line.run_seconds
    turns = line.position / max(1, line.workers)
    return round(middle * turns), round(low * max(0.0, turns - 1)), round(high * turns) + 1


def ready(line: Line) -> dict[str, Any]:
    """The `wait` of a job that is ready but not started."""
    reason = reason_for(line)
    times = eta(line) if reason is Reason.WORKERS_BUSY else None
    words = {
        Reason.QUEUE_PAUSED: "The operator has paused this queue; your job keeps its place.",
        Reason.NO_WORKERS: "No worker serves this queue right now; your job starts as soon as one does.",
        Reason.WORKERS_BUSY: _place(line),
    }
    return _wait(reason, words[reason], line=line, times=times)


def _place(line: Line) -> str:
    if line.more:
        return f"More than {line.position - 1:,} jobs are ahead."
    return "Starting." if line.position == 1 else f"Number {line.position} in the queue."


def at_limit(running: int, limit: int, tier: str, next_try: datetime | None) -> dict[str, Any]:
    """The `wait` of a snoozed job."""
    until = f", at {next_try:%H:%M:%S} UTC at the latest" if next_try else ""
    text = f"Waiting for your slot: {running} of {limit} running on tier {tier}. Starts when one ends{until}."
    return _wait(Reason.USER_AT_LIMIT, text, running=running, limit=limit)


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
