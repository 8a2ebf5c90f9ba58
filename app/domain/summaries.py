"""Summarise many waits in a few figures: how long, by cause, and how evenly a queue was shared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.attribution import AttributedWait, Cause, Course
from app.domain.fairness import WEIGHTS

HOUR = 3600


def percentile(values: Sequence[float], share: float) -> float:
    """The value at or below which `share` of the values lie; 0 without values."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))] if ordered else 0.0


@dataclass(frozen=True, slots=True)
class WaitSummary:
    """Waits in seconds.  mean: over all jobs, the sum of `causes`, which are the means by cause."""

    jobs: int
    p50: float
    p95: float
    mean: float
    causes: Mapping[Cause, float]


def summarise(waits: Sequence[AttributedWait]) -> WaitSummary:
    """The figures of any number of jobs that have started."""
    totals = [wait.total for wait in waits]
    jobs = len(waits)
    causes = {cause: sum(wait.seconds[cause] for wait in waits) / max(1, jobs) for cause in Cause}
    return WaitSummary(jobs, percentile(totals, 0.5), percentile(totals, 0.95), sum(totals) / max(1, jobs), causes)


@dataclass(frozen=True, slots=True)
class Sharing:
    """How evenly the users with waiting jobs shared a queue in one hour.  begin: seconds since the epoch.

    index: Jain's index of the seconds of service divided by the tier's weight: 1 if all got the same, 1/users if one
    got everything.
    """

    queue: str
    begin: float
    users: int
    index: float


def sharing(courses: Iterable[Course], until: float) -> list[Sharing]:
    """One entry per queue and hour with two users or more, oldest first.  until: the end of the span."""
    served: dict[tuple[float, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    waited: dict[tuple[float, str], set[str]] = defaultdict(set)
    for course in courses:
        if course.user is None:
            continue
        if course.accepted is not None and (course.runs or course.waits):
            for hour, _ in _hours(course.accepted, course.runs[0][0] if course.runs else until):
                waited[hour, course.queue].add(course.user)
        for start, end in course.runs:
            for hour, seconds in _hours(start, end):
                served[hour, course.queue][course.user] += seconds / WEIGHTS[course.tier]
    return [
        Sharing(queue, hour, len(users), jain([served[hour, queue].get(user, 0.0) for user in users]))
        for (hour, queue), users in sorted(waited.items())
        if len(users) > 1
    ]


def jain(shares: Sequence[float]) -> float:
    """(sum x)² / (n · sum x²); 1 if no user got anything."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 1.0


def _hours(begin: float, end: float) -> Iterable[tuple[float, float]]:
    """(begin of each hour, seconds of the interval in it)."""
    hour = begin // HOUR * HOUR
    while hour < end:
        yield hour, min(end, hour + HOUR) - max(begin, hour)
        hour += HOUR
