"""Attribute the waits of jobs to their causes, from the times of accepts, starts and ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from app.domain.plans import Tier
from app.domain.simulation import Arrival, Run


class Cause(StrEnum):
    """The cause of one instant of a wait: the first of these that applies."""

    OWN_LIMIT = "own_limit"  #: all of the user's slots of the service were taken
    PAUSED = "paused"  #: the operator had paused the queue
    OTHERS = "others"  #: the queue's workers ran a job of another user
    NO_WORKER = "no_worker"  #: no other user's job ran: there was no worker, or the user's own jobs had them all


@dataclass(frozen=True, slots=True)
class Course:
    """A job's way through the queue.

    accepted: None if it was before the span; runs: (start, end) of each attempt.  Instants are seconds since the epoch;
    a run that has not ended ends with the span.
    """

    user: str | None
    tier: Tier
    queue: str
    accepted: float | None
    runs: tuple[tuple[float, float], ...] = ()
    ended: bool = False

    @property
    def service(self) -> str:
        """The service of the queue, by which limits count."""
        return self.queue.partition("_")[0]

    @property
    def waits(self) -> bool:
        """Whether it has neither started nor ended."""
        return not self.runs and not self.ended

    @property
    def seconds(self) -> float:
        """Seconds of service, over all attempts."""
        return sum(end - start for start, end in self.runs)

    @property
    def recorded(self) -> Run | None:
        """The job as one run, for a simulation; None if its accept or start is not in the span."""
        if self.accepted is None or not self.runs:
            return None
        return Run(Arrival(self.accepted, self.user, self.tier, self.queue, self.seconds), self.runs[0][0])


@dataclass(frozen=True, slots=True)
class Wait:
    """A job that was accepted and started in the span, with the seconds of its wait by cause."""

    course: Course
    seconds: Mapping[Cause, float]

    @property
    def total(self) -> float:
        """The whole wait, in seconds."""
        return sum(self.seconds.values())


@dataclass(slots=True)
class _Clock:
    """Seconds for which a queue was (paused; open and idle; open with jobs of one user only) until `at`."""

    at: float
    totals: tuple[float, float, float] = (0.0, 0.0, 0.0)
    paused: bool = False
    running: dict[str | None, int] = field(default_factory=dict)

    def advance(self, to: float) -> tuple[float, float, float]:
        paused, nobody, one = self.totals
        passed, self.at = to - self.at, to
        users = len(self.running)
        self.totals = (
            paused + passed * self.paused,
            nobody + passed * (not self.paused and users == 0),
            one + passed * (not self.paused and users == 1),
        )
        return self.totals


@dataclass(slots=True)
class _UserInQueue:
    """A user in a queue: the seconds by cause until `at`, as if one of their jobs waited all the time."""

    at: float
    totals: tuple[float, float, float]
    seconds: dict[Cause, float] = field(default_factory=lambda: dict.fromkeys(Cause, 0.0))


def attribute(
    courses: Sequence[Course],
    pauses: Iterable[tuple[str, float, float]],
    limits: Mapping[Tier, int],
    own: Mapping[str, int] | None = None,
) -> list[Wait]:
    """Attribute the wait of each job that was accepted and started in the span to its causes.

    pauses: (queue, from, to); limits: the current slot limits by tier; own: those of users with a limit of their own.
    The running time grows with the number of runs, not with its square.
    """
    return _Attribution(courses, pauses, limits, own or {}).waits()


class _Attribution:
    def __init__(
        self,
        courses: Sequence[Course],
        pauses: Iterable[tuple[str, float, float]],
        limits: Mapping[Tier, int],
        own: Mapping[str, int],
    ) -> None:
        self.courses, self.limits, self.own = courses, limits, own
        self.changes = sorted([*_changes(courses), *_pauses(pauses)])
        begin = self.changes[0][0] if self.changes else 0.0
        self.clocks: dict[str, _Clock] = defaultdict(lambda: _Clock(begin))
        self.entries: dict[tuple[str, str | None], dict[str, _UserInQueue]] = defaultdict(dict)
        self.running: dict[tuple[str, str | None], int] = defaultdict(int)
        self.tiers: dict[str | None, Tier] = {}

    def waits(self) -> list[Wait]:
        before: dict[int, dict[Cause, float]] = {}
        found: list[Wait] = []
        for at, kind, number, queue in self.changes:
            if kind in (_OPEN, _PAUSE):
                self.clocks[queue].advance(at)
                self.clocks[queue].paused = kind == _PAUSE
                continue
            course = self.courses[number]
            entry = self._reach(course, at)
            if kind == _ACCEPT:
                before[number] = dict(entry.seconds)
                self.tiers[course.user] = course.tier
            elif kind == _START and (since := before.pop(number, None)) is not None:
                found.append(Wait(course, {cause: entry.seconds[cause] - since[cause] for cause in Cause}))
            self._run(course, (kind == _START) - (kind == _END))
        return found

    def _reach(self, course: Course, at: float) -> _UserInQueue:
        """Count the time that has passed for the user in each queue of the service, before something changes there."""
        mine = self.entries[course.service, course.user]
        if course.queue not in mine:
            mine[course.queue] = _UserInQueue(at, self.clocks[course.queue].advance(at))
        for queue, entry in mine.items():
            self._count(entry, self.clocks[queue], course, at)
        return mine[course.queue]

    def _count(self, entry: _UserInQueue, clock: _Clock, course: Course, at: float) -> None:
        totals = clock.advance(at)
        passed, entry.at = at - entry.at, at
        paused, nobody, one = (now - then for now, then in zip(totals, entry.totals, strict=True))
        entry.totals = totals
        tier = self.tiers.get(course.user, course.tier)
        limit = self.own.get(course.user or "", self.limits[tier])
        if course.user is not None and self.running[course.service, course.user] >= limit:
            entry.seconds[Cause.OWN_LIMIT] += passed
            return
        # while the user has a running job, "one user running" means this user
        free = one if course.user in clock.running else nobody
        entry.seconds[Cause.PAUSED] += paused
        entry.seconds[Cause.NO_WORKER] += free
        entry.seconds[Cause.OTHERS] += passed - paused - free

    def _run(self, course: Course, more: int) -> None:
        if not more:
            return
        self.running[course.service, course.user] += more
        running = self.clocks[course.queue].running
        running[course.user] = running.get(course.user, 0) + more
        if not running[course.user]:
            del running[course.user]


# changes at one instant are applied in this order
_OPEN, _PAUSE, _END, _ACCEPT, _START = range(5)


def _changes(courses: Sequence[Course]) -> Iterable[tuple[float, int, int, str]]:
    for number, course in enumerate(courses):
        if course.accepted is not None:
            yield course.accepted, _ACCEPT, number, course.queue
        for start, end in course.runs:
            yield start, _START, number, course.queue
            # a run that took no time must not end before it starts
            yield max(end, start + _INSTANT), _END, number, course.queue


_INSTANT = 1e-6


def _pauses(pauses: Iterable[tuple[str, float, float]]) -> Iterable[tuple[float, int, int, str]]:
    for queue, begin, end in pauses:
        yield begin, _PAUSE, -1, queue
        yield end, _OPEN, -1, queue
