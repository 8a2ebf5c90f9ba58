"""Visit every state that three jobs of one user can reach, breadth first, and look at each (docs/adr/0023).

A state is three jobs, in order, and nothing else: what they share is the sum of what each holds.  Jobs are numbered when
first met, so that a state is one integer and a step is a number to add; what a job can do depends on itself and on the
sums over the others alone, so it is worked out once for each such pair.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple

from app.domain.queues import Service
from tests.model import invariants
from tests.model.invariants import Broken
from tests.model.job import Job, Others, seen_by_others
from tests.model.steps import STEPS, Effect, Move, Rules, Step, apply_to_another

JOBS = 3
BITS = 13  # of a job's number
MASK = (1 << BITS) - 1
PLACES = tuple(BITS * place for place in range(JOBS))
_FIELD = 4  # bits of one sum; three jobs reach at most 9
_SUMS = 6  # of each service


@dataclass(frozen=True)
class Result:
    """broken: the first thing found wrong, with the shortest trace that leads there; transitions: without those that
    change nothing."""

    states: int
    transitions: int
    depth: int
    seconds: float
    broken: Broken | None = None
    trace: tuple[str, ...] = ()

    def __str__(self) -> str:
        figures = f"{self.states:,} states, {self.transitions:,} transitions, depth {self.depth}, {self.seconds:.1f} s"
        if self.broken is None:
            return f"no violation in {figures}"
        return "\n".join((f"{self.broken[0]}: {self.broken[1]} ({figures})", *self.trace))


class Way(NamedTuple):
    """What a job can do beside certain others, as numbers to add to its own.

    lone: where only it changes; shared: with an effect on others; leads_on: whether one brings it nearer to its end.
    """

    lone: tuple[int, ...]
    shared: tuple[tuple[int, Effect], ...]
    leads_on: bool


class _Violation(Exception):  # noqa: N818 - what it is, not an error of the program
    def __init__(self, broken: Broken, world: int, move: str = "") -> None:
        super().__init__(broken[1])
        self.broken, self.world, self.move = broken, world, move


@dataclass
class Explorer:
    """steps: by name; the services' own unless a mistake is to be found."""

    rules: Rules
    steps: Mapping[str, Step] = field(default_factory=lambda: STEPS)

    def __post_init__(self) -> None:
        self.jobs: list[Job] = []
        self.numbers: dict[Job, int] = {}
        self.shares: list[int] = []
        self.distances: list[int] = []
        #: by place, by number of the job, by sums over the others
        self.ways: tuple[list[dict[int, Way]], ...] = ([], [], [])
        self.parents: dict[int, int] = {}
        self.transitions = 0

    def run(self, most: int | None = None) -> Result:
        """Explore to the end, to the first violation, or until there are `most` states."""
        began, depth = time.process_time(), 0
        layer = [
            sum(self.number(Job(service=one)) << place for place, one in zip(PLACES, self.rules.services, strict=True))
        ]
        self.parents[layer[0]] = -1
        broken: Broken | None = None
        trace: tuple[str, ...] = ()
        try:
            while layer and (most is None or len(self.parents) < most):
                self.judge(layer)
                layer = self.expand(layer)
                depth += bool(layer)
        except _Violation as found:
            broken, trace = found.broken, tuple(self.trace(found.world, found.move))
        seconds = time.process_time() - began
        return Result(len(self.parents), self.transitions, depth, seconds, broken, trace)

    def expand(self, layer: list[int]) -> list[int]:
        """The states one step from these that were not met before."""
        shares, ways, parents, fresh = self.shares, self.ways, self.parents, []
        for world in layer:
            one, two, three = world & MASK, world >> BITS & MASK, world >> 2 * BITS
            first, second, third = shares[one], shares[two], shares[three]
            leads_on = False
            for place, number, others in (
                (0, one, second + third),
                (1, two, first + third),
                (2, three, first + second),
            ):
                way = ways[place][number].get(others) or self.way(world, place, number, others)
                leads_on |= way.leads_on
                self.transitions += len(way.lone)
                for change in way.lone:
                    reached = world + change
                    if reached not in parents:
                        parents[reached] = world
                        fresh.append(reached)
                for change, effect in way.shared:
                    for reached in self.spread(world, place, change, effect):
                        self.transitions += 1
                        if reached not in parents:
                            parents[reached] = world
                            fresh.append(reached)
            if not leads_on and self.distances[one] + self.distances[two] + self.distances[three]:
                raise _Violation(("stuck", "no step brings any job nearer to its end"), world)
        return fresh

    def way(self, world: int, place: int, number: int, others: int) -> Way:
        """Work out, look at, and keep what the job can do beside these others."""
        before, leads_on = self.jobs[number], False
        lone: set[int] = set()
        shared: set[tuple[int, Effect]] = set()
        seen = _unpacked(others, before.service)
        moves = list(self.moves(before, seen))
        for broken in invariants.of_share(before, moves, seen, self.rules):
            raise _Violation(broken, world, f"job {place + 1}: may do {[move.label for move in moves]}")
        for move in moves:
            where = f"job {place + 1}: {move.label}"
            for broken in chain(invariants.of_move(before, move), invariants.of_job(move.job, self.rules)):
                raise _Violation(broken, world, f"{where}\n      {move.job}")
            change = self.number(move.job) - number << PLACES[place]
            if move.effect is Effect.NOTHING:
                lone.add(change)
            else:
                shared.add((change, move.effect))
            leads_on |= invariants.leads_on(before, move, self.rules)
        way = self.ways[place][number][others] = Way(tuple(lone - {0}), tuple(shared), leads_on)
        return way

    def met(self) -> Iterator[tuple[Job, Others]]:
        """Every job beside everything that was seen of the others."""
        for job, *ways in zip(self.jobs, *self.ways, strict=True):
            for others in {others for place in ways for others in place}:
                yield job, _unpacked(others, job.service)

    def moves(self, job: Job, others: Others) -> Iterator[Move]:
        """Every way every step may go; an effect that meets nobody is none."""
        met = {
            Effect.WAKE: others.snoozed,
            Effect.DROP_LEFTOVERS: others.leftovers,
            Effect.HOLD_BACK: others.leftovers + others.ready,
            Effect.FILL: others.snoozed,
            Effect.FREE_A_SLOT: others.slots,
        }
        for step in self.steps.values():
            for move in step(job, others, self.rules):
                # what a job does away from here is felt in the line where it is
                felt = met.get(move.effect) and not job.away
                yield move if felt else move._replace(effect=Effect.NOTHING)

    def spread(self, world: int, place: int, change: int, effect: Effect) -> list[int]:
        """The states after a step with an effect: on each of the others of its service in turn, or on all at once."""
        service = self.jobs[world >> PLACES[place] & MASK].service
        if effect is Effect.FILL:
            [cleared] = self.spread(world, place, change, Effect.DROP_LEFTOVERS)
            return self.spread(cleared, place, 0, Effect.WAKE)
        changes = []
        for other in range(JOBS):
            number = world >> PLACES[other] & MASK
            met = other != place and self.jobs[number].service is service
            if met and (job := apply_to_another(effect, self.jobs[number])) is not None:
                changes.append(self.number(job) - number << PLACES[other])
        if effect in (Effect.DROP_LEFTOVERS, Effect.HOLD_BACK):
            return [world + change + sum(changes)]
        return [world + change + one for one in changes]

    def judge(self, layer: list[int]) -> None:
        """Look at the sums over all jobs of each state."""
        shares = self.shares
        fine: set[int] = set()
        for world in layer:
            total = shares[world & MASK] + shares[world >> BITS & MASK] + shares[world >> 2 * BITS]
            if total not in fine:
                for service in Service:
                    for broken in invariants.of_user(_unpacked(total, service), self.rules, service):
                        raise _Violation(broken, world)
                fine.add(total)

    def number(self, job: Job) -> int:
        """The job's number, a new one when it is met for the first time."""
        if (known := self.numbers.get(job)) is not None:
            return known
        number = self.numbers[job] = len(self.jobs)
        assert number <= MASK
        self.jobs.append(job)
        self.shares.append(_packed(seen_by_others(job), job.service))
        self.distances.append(invariants.distance(job, self.rules))
        for ways in self.ways:
            ways.append({})
        return number

    def trace(self, world: int, last: str) -> Iterator[str]:
        """The steps from the beginning to a state, and the one that went wrong there."""
        path = [world]
        while (parent := self.parents[path[-1]]) >= 0:
            path.append(parent)
        path.reverse()
        for count, (before, after) in enumerate(pairwise(path), 1):
            yield f"{count:4}. {self.step_between(before, after)}"
        if last:
            yield f"{len(path):4}. {last}"

    def step_between(self, before: int, after: int) -> str:
        """Which step of which job leads from one state to the next."""
        numbers = [before >> place & MASK for place in PLACES]
        for place, number in enumerate(numbers):
            others = sum(self.shares[other] for where, other in enumerate(numbers) if where != place)
            for move in self.moves(self.jobs[number], _unpacked(others, self.jobs[number].service)):
                change = self.number(move.job) - number << PLACES[place]
                alone = move.effect is Effect.NOTHING
                if after in ([before + change] if alone else self.spread(before, place, change, move.effect)):
                    return f"job {place + 1}: {move.label}\n      {move.job}"
        raise AssertionError("no step leads there")


def _packed(sums: Others, service: Service) -> int:
    """The sums of the second service stand above those of the first."""
    above = _SUMS * (service is Service.SPECVIEW)
    return sum(value << _FIELD * (above + position) for position, value in enumerate(sums[:_SUMS]))


def _unpacked(number: int, service: Service) -> Others:
    """As a job of this service sees them."""
    every = [number >> _FIELD * position & (1 << _FIELD) - 1 for position in range(2 * _SUMS)]
    first, second = every[:_SUMS], every[_SUMS:]
    own, other = (second, first) if service is Service.SPECVIEW else (first, second)
    return Others(*own, other_units=other[0], other_slots=other[1])
