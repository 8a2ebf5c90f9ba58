"""Simulate recorded arrivals with the rules of limits, parking and fair order, without a database (docs/adr/0026).

The workers' side is one number: how long a process and a slot stay taken between the end of a job and the next start.
The simulation leaves out the countdown of a snooze, which matters only when a wake was lost, failures, and changes of
tier.  It assumes that the run time of a user's jobs is known from the first one on, because most users have run jobs
before any span.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil, inf
from statistics import fmean

from app.domain.fairness import step
from app.domain.plans import Tier
from app.domain.waiting import NEWEST

#: The rank in a queue where nothing is ready is the clock, in these units.
RANKS_A_SECOND = 1_000_000
#: Recorded gaps between two jobs that are longer than this share of all count as accidents.
_TYPICAL = 0.95


@dataclass(frozen=True, slots=True)
class Arrival:
    """A job as it was accepted.  at: time of the accept; seconds: of work; user: None for a system job."""

    at: float
    user: str | None
    tier: Tier
    queue: str
    seconds: float

    @property
    def service(self) -> str:
        """The service of the queue, by which limits count."""
        return self.queue.partition("_")[0]


@dataclass(frozen=True, slots=True)
class Run:
    """An arrival and its simulated start."""

    arrival: Arrival
    started: float

    @property
    def wait(self) -> float:
        """Seconds from the accept to the start."""
        return self.started - self.arrival.at

    @property
    def ended(self) -> float:
        """The time when the job's work ended."""
        return self.started + self.arrival.seconds


@dataclass(slots=True)
class _Flow:
    """A user's jobs of one queue.

    ready: job -> rank, increasing; waiting: a heap of the parked jobs and the snoozed one.
    """

    queue: str
    ready: dict[int, int] = field(default_factory=dict)
    waiting: list[int] = field(default_factory=list)
    snoozed: int | None = None
    held: bool = False
    place: int = 0

    @property
    def parked(self) -> int:
        return len(self.waiting) - (self.snoozed is not None)


def simulate(
    arrivals: Iterable[Arrival], limits: Mapping[Tier, int], workers: Mapping[str, int], *, turnaround: float = 0.0
) -> list[Run]:
    """Run every arrival, in the order of the accepts.

    limits: slot limits by tier; workers: processes by queue, at least one where jobs arrive; turnaround: seconds.
    """
    return _Simulation(sorted(arrivals, key=lambda arrival: arrival.at), limits, workers, turnaround).run()


class _Simulation:
    def __init__(
        self, arrivals: list[Arrival], limits: Mapping[Tier, int], workers: Mapping[str, int], turnaround: float
    ) -> None:
        self.arrivals, self.limits, self.turnaround = arrivals, limits, turnaround
        self.idle = dict(workers)
        self.now = -inf
        self.started: dict[int, float] = {}
        self.ends: list[tuple[float, int]] = []
        self.heads: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.flows: dict[tuple[str, str | None], dict[str, _Flow]] = defaultdict(dict)
        self.running: dict[tuple[str, str | None], int] = defaultdict(int)
        self.means = _means(arrivals)

    def run(self) -> list[Run]:
        for job, arrival in enumerate(self.arrivals):
            self._end_until(arrival.at)
            self.now = arrival.at
            self._publish(job, arrival)
            self._dispatch()
        self._end_until(inf)
        return [Run(arrival, self.started[job]) for job, arrival in enumerate(self.arrivals)]

    def _end_until(self, at: float) -> None:
        while self.ends and self.ends[0][0] <= at:
            self.now, job = heappop(self.ends)
            self._end(self.arrivals[job])
            self._dispatch()

    def _publish(self, job: int, arrival: Arrival) -> None:
        flow = self.flows[arrival.service, arrival.user].setdefault(arrival.queue, _Flow(arrival.queue))
        own = self._step(arrival)
        limited = arrival.user is not None
        if limited and not flow.held and len(flow.ready) > self.limits[arrival.tier]:
            flow.held, flow.place = True, self._rank(flow, own)
        if limited and flow.held:
            heappush(flow.waiting, job)
        else:
            self._ready(flow, job, self._rank(flow, own))

    def _dispatch(self) -> None:
        for queue, heads in self.heads.items():
            while self.idle[queue] and self._head(queue) is not None:
                _, job = heappop(heads)
                self._claimed(job, self.arrivals[job])

    def _claimed(self, job: int, arrival: Arrival) -> None:
        who, limit = (arrival.service, arrival.user), self.limits[arrival.tier]
        flow = self.flows[who][arrival.queue]
        rank = flow.ready.pop(job)
        if arrival.user is not None and self.running[who] >= limit:
            self._park(flow, job, rank)
            return
        self.started[job] = self.now
        self.idle[arrival.queue] -= 1
        self.running[who] += 1
        heappush(self.ends, (self.now + arrival.seconds + self.turnaround, job))
        if self.running[who] < limit and any(flow.held and not flow.ready for flow in self.flows[who].values()):
            self._wake(arrival)

    def _end(self, arrival: Arrival) -> None:
        self.idle[arrival.queue] += 1
        self.running[arrival.service, arrival.user] -= 1
        if arrival.user is not None:
            self.means[arrival.user] += (arrival.seconds - self.means[arrival.user]) * NEWEST
            self._wake(arrival)

    def _park(self, flow: _Flow, job: int, rank: int) -> None:
        unspent = min([rank, *flow.ready.values()])
        flow.held, flow.place = True, min(flow.place, unspent) if flow.held else unspent
        for waiting in (job, *flow.ready):
            heappush(flow.waiting, waiting)
        flow.ready.clear()
        if flow.snoozed is None:
            flow.snoozed = job

    def _wake(self, arrival: Arrival) -> None:
        flows = self.flows[arrival.service, arrival.user].values()
        if flow := min((flow for flow in flows if flow.waiting), key=lambda flow: flow.waiting[0], default=None):
            job = heappop(flow.waiting)
            own = self._step(arrival)
            place = max(self._rank(flow, own), flow.place if flow.held else 0)
            flow.place = place + own
            flow.snoozed = None if flow.snoozed == job else flow.snoozed
            self._ready(flow, job, place)
        for flow in flows:
            flow.held = flow.held and flow.parked > 0

    def _ready(self, flow: _Flow, job: int, rank: int) -> None:
        flow.ready[job] = rank
        heappush(self.heads[flow.queue], (rank, job))

    def _rank(self, flow: _Flow, own: int) -> int:
        head = self._head(flow.queue)
        last = flow.ready[next(reversed(flow.ready))] + own if flow.ready else 0
        return max(int(self.now * RANKS_A_SECOND) if head is None else head, last)

    def _head(self, queue: str) -> int | None:
        """The lowest rank of the ready jobs; entries that were parked or woken again since are dropped on the way."""
        heads = self.heads[queue]
        while heads:
            rank, job = heads[0]
            arrival = self.arrivals[job]
            if self.flows[arrival.service, arrival.user][queue].ready.get(job) == rank:
                return rank
            heappop(heads)
        return None

    def _step(self, arrival: Arrival) -> int:
        return step(arrival.tier, None if arrival.user is None else self.means[arrival.user])


def _means(arrivals: Sequence[Arrival]) -> dict[str | None, float]:
    by_user: dict[str | None, list[float]] = defaultdict(list)
    for arrival in arrivals:
        by_user[arrival.user].append(arrival.seconds)
    return {user: fmean(seconds) for user, seconds in by_user.items()}


def turnaround(runs: Sequence[Run]) -> float:
    """Mean seconds from the end of a job to the start of one that waited for it.

    An end is matched with the next start of its queue; a job that was accepted after that end did not wait for it.  The
    longest twentieth is left out, because the queue was then paused or had no worker.
    """
    changes = sorted(
        [(run.ended, False, run.arrival) for run in runs] + [(run.started, True, run.arrival) for run in runs],
        key=lambda change: change[:2],
    )
    ends: dict[str, list[float]] = defaultdict(list)
    gaps: list[float] = []
    for at, is_start, arrival in changes:
        if not is_start:
            ends[arrival.queue].append(at)
        elif ends[arrival.queue] and arrival.at < (end := ends[arrival.queue].pop()):
            gaps.append(at - end)
    gaps.sort()
    return fmean(gaps[: ceil(len(gaps) * _TYPICAL)]) if gaps else 0.0
