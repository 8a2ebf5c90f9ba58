"""Attribute the waits of jobs to their causes, from the times of accepts, starts and ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import sub

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
        """Whether the job has neither started nor ended."""
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
class AttributedWait:
    """A job that was accepted and started in the span, with the seconds of its wait by cause."""

    course: Course
    seconds: Mapping[Cause, float]

    @property
    def total(self) -> float:
        """The whole wait, in seconds."""
        return sum(self.seconds.values())


# The classes below are read and written half a million times for a day of 100,000 jobs: no properties, few calls.
class _Clock:
    """Seconds for which a queue was paused; open and idle; open with jobs of one user only, until `at`.

    running: the number of running jobs by user.
    """

    __slots__ = ("at", "idle", "is_paused", "one", "paused", "running")

    def __init__(self, at: float) -> None:
        self.at = at
        self.paused = self.idle = self.one = 0.0
        self.is_paused = False
        self.running: dict[str | None, int] = {}

    def advance(self, to: float) -> None:
        passed, self.at = to - self.at, to
        if self.is_paused:
            self.paused += passed
        elif not self.running:
            self.idle += passed
        elif len(self.running) == 1:
            self.one += passed


class _UserInQueue:
    """A user in a queue: the seconds by cause until `at`, as if one of their jobs waited all the time.

    paused, idle, one: those of the clock at that time.
    """

    __slots__ = ("at", "by_limit", "by_nobody", "by_others", "by_pause", "clock", "idle", "one", "paused")

    def __init__(self, clock: _Clock) -> None:
        self.clock, self.at = clock, clock.at
        self.paused = self.idle = self.one = 0.0
        self.by_limit = self.by_pause = self.by_others = self.by_nobody = 0.0

    def seconds(self) -> tuple[float, float, float, float]:
        """The seconds by cause, in the order of Cause."""
        return self.by_limit, self.by_pause, self.by_others, self.by_nobody


class _UserOfService:
    """The queues in which a user has jobs of one service, how many of them run, and how many may."""

    __slots__ = ("limit", "queues", "running", "user")

    def __init__(self, user: str | None, limit: int) -> None:
        self.user, self.limit, self.running = user, limit, 0
        self.queues: dict[str, _UserInQueue] = {}

    def reach(self, at: float) -> None:
        """Count the time that has passed, before something of the user changes."""
        user = self.user
        full = user is not None and self.running >= self.limit
        for entry in self.queues.values():
            clock = entry.clock
            clock.advance(at)
            passed, paused = at - entry.at, clock.paused - entry.paused
            # while the user has a running job, "one user running" means this user
            free = clock.one - entry.one if user in clock.running else clock.idle - entry.idle
            entry.at, entry.paused, entry.idle, entry.one = at, clock.paused, clock.idle, clock.one
            if full:
                entry.by_limit += passed
            else:
                entry.by_pause += paused
                entry.by_nobody += free
                entry.by_others += passed - paused - free


def attribute(
    courses: Sequence[Course],
    pauses: Iterable[tuple[str, float, float]],
    limits: Mapping[Tier, int],
    own: Mapping[str, int] | None = None,
) -> list[AttributedWait]:
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
        self.users: dict[str | None, dict[str, _UserOfService]] = defaultdict(dict)
        self.places = [self._place(course) for course in courses]

    def _place(self, course: Course) -> tuple[_UserOfService, _UserInQueue]:
        services, service = self.users[course.user], course.service
        if (mine := services.get(service)) is None:
            mine = services[service] = _UserOfService(course.user, self._limit(course))
        if (entry := mine.queues.get(course.queue)) is None:
            entry = mine.queues[course.queue] = _UserInQueue(self.clocks[course.queue])
        return mine, entry

    def _limit(self, course: Course) -> int:
        return self.own.get(course.user or "", self.limits[course.tier])

    def waits(self) -> list[AttributedWait]:
        before: dict[int, tuple[float, float, float, float]] = {}
        found: list[AttributedWait] = []
        for at, kind, number, queue in self.changes:
            if kind <= _PAUSE:
                self.clocks[queue].advance(at)
                self.clocks[queue].is_paused = kind == _PAUSE
                continue
            mine, entry = self.places[number]
            mine.reach(at)
            if kind == _ACCEPT:
                before[number] = entry.seconds()
                for one in self.users[mine.user].values():  # the tier of the newest accept counts
                    one.limit = self._limit(self.courses[number])
                continue
            if kind == _START and (since := before.pop(number, None)) is not None:
                spent = map(sub, entry.seconds(), since)
                found.append(AttributedWait(self.courses[number], dict(zip(Cause, spent, strict=True))))
            _run(mine, entry.clock, 1 if kind == _START else -1)
        return found


def _run(mine: _UserOfService, clock: _Clock, more: int) -> None:
    mine.running += more
    running = clock.running.get(mine.user, 0) + more
    if running:
        clock.running[mine.user] = running
    else:
        del clock.running[mine.user]


# changes at one instant are applied in this order
_OPEN, _PAUSE, _END, _ACCEPT, _START = range(5)


def _changes(courses: Sequence[Course]) -> Iterable[tuple[float, int, int, str]]:
    for number, course in enumerate(courses):
        if course.accepted is not None:
            yield course.accepted, _ACCEPT, number, ""
        for start, end in course.runs:
            yield start, _START, number, ""
            # a run that took no time must not end before it starts
            yield max(end, start + _INSTANT), _END, number, ""


_INSTANT = 1e-6


def _pauses(pauses: Iterable[tuple[str, float, float]]) -> Iterable[tuple[float, int, int, str]]:
    for queue, begin, end in pauses:
        yield begin, _PAUSE, -1, queue
        yield end, _OPEN, -1, queue
