"""Visit every state that three jobs of one user can reach, breadth first, and look at each (docs/adr/0023).

A state is three jobs, in order, and nothing else: what they share is the sum of what each holds.  Jobs are numbered when
first met, so that a state is one integer; what a job can do depends on itself and on the sums over the others alone, so
it is worked out once for each such pair.  For the same reason jobs of one service may change places in every state of a
history: such orders are visited as one, with the numbers ascending, and counted as all (docs/adr/0071).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
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
    """What a job can do beside certain others, as the numbers that it becomes.

    lone: where only it changes; shared: with an effect on others; leads_on: whether one brings it nearer to its end.
    """

    lone: tuple[int, ...]
    shared: tuple[tuple[int, Effect], ...]
    leads_on: bool


class _Violation(Exception):  # noqa: N818 - what it is, not an error of the program
    def __init__(self, broken: Broken, world: int, number: int = 0, move: str = "") -> None:
        """number, move: of the job that made it, and how."""
        super().__init__(broken[1])
        self.broken, self.world, self.number, self.move = broken, world, number, move


@dataclass
class Explorer:
    """steps: by name; the services' own unless a mistake is to be found.  alike: visit orders of one service as one."""

    rules: Rules
    steps: Mapping[str, Step] = field(default_factory=lambda: STEPS)
    alike: bool = True

    def __post_init__(self) -> None:
        self.jobs: list[Job] = []
        self.numbers: dict[Job, int] = {}
        self.shares: list[int] = []
        self.distances: list[int] = []
        #: by number of the job, by sums over the others
        self.ways: list[dict[int, Way]] = []
        self.parents: dict[int, int] = {}
        self.states = self.transitions = 0
        one, two, three = self.rules.services
        self._pair, self._three = self.alike and two is three, self.alike and one is two is three

    def run(self, most: int | None = None) -> Result:
        """Explore to the end, to the first violation, or until there are `most` states."""
        began, depth = time.process_time(), 0
        layer = [self.ordered(*(self.number(Job(service=one)) for one in self.rules.services))]
        self.parents[layer[0]] = -1
        self.states = sum(map(self.orders, layer))
        broken: Broken | None = None
        trace: tuple[str, ...] = ()
        try:
            while layer and (most is None or self.states < most):
                self.judge(layer)
                layer = self.expand(layer)
                depth += bool(layer)
        except _Violation as found:
            broken, trace = found.broken, tuple(self.trace(found.world, found.number, found.move))
        seconds = time.process_time() - began
        return Result(self.states, self.transitions, depth, seconds, broken, trace)

    def expand(self, layer: list[int]) -> list[int]:
        """The states one step from these that were not met before."""
        shares, ways, parents, fresh = self.shares, self.ways, self.parents, []
        for world in layer:
            one, two, three = world & MASK, world >> BITS & MASK, world >> 2 * BITS
            first, second, third = shares[one], shares[two], shares[three]
            leads_on, orders = False, self.orders(world)
            for place, number, others in (
                (0, one, second + third),
                (1, two, first + third),
                (2, three, first + second),
            ):
                way = ways[number].get(others) or self.way(world, number, others)
                leads_on |= way.leads_on
                felt = [on for became, effect in way.shared for on in self.spread(world, place, became, effect)]
                self.transitions += orders * (len(way.lone) + len(felt))
                reached = self.alone(place, one, two, three, way.lone) + [self.ordered(*_numbers(on)) for on in felt]
                for after in reached:
                    if after not in parents:
                        parents[after] = world
                        fresh.append(after)
            if not leads_on and self.distances[one] + self.distances[two] + self.distances[three]:
                raise _Violation(("stuck", "no step brings any job nearer to its end"), world)
        self.states += sum(map(self.orders, fresh))
        return fresh

    def alone(self, place: int, one: int, two: int, three: int, became: tuple[int, ...]) -> list[int]:
        """The states where the job in this place alone has become another, in turn."""
        least, most, below, between, above = self.rests(place, one, two, three)
        return [
            new | below if new <= least else new << BITS | between if new <= most else new << 2 * BITS | above
            for new in became
        ]

    def rests(self, place: int, one: int, two: int, three: int) -> tuple[int, int, int, int, int]:
        """What stays when a job changes: up to which number it comes first, and second, and the others around it."""
        if self._three:
            less, more = (two, three) if place == 0 else (one, three) if place == 1 else (one, two)
            return less, more, less << BITS | more << 2 * BITS, less | more << 2 * BITS, less | more << BITS
        if place == 0:
            return MASK, MASK, two << BITS | three << 2 * BITS, 0, 0
        other = three if place == 1 else two
        most = other if self._pair else MASK if place == 1 else -1
        return -1, most, 0, one | other << 2 * BITS, one | other << BITS

    def ordered(self, one: int, two: int, three: int) -> int:
        """The state of three jobs by their numbers, those that are alike in ascending order."""
        if self._three:
            one, two, three = sorted((one, two, three))
        elif self._pair and two > three:
            two, three = three, two
        return one | two << BITS | three << 2 * BITS

    def orders(self, world: int) -> int:
        """How many states it stands for."""
        one, two, three = world & MASK, world >> BITS & MASK, world >> 2 * BITS
        if self._three:
            return 6 if one != two != three else 1 if one == three else 3
        return 2 if self._pair and two != three else 1

    def way(self, world: int, number: int, others: int) -> Way:
        """Work out, look at, and keep what the job can do beside these others."""
        before, leads_on = self.jobs[number], False
        lone: set[int] = set()
        shared: set[tuple[int, Effect]] = set()
        seen = _unpacked(others, before.service)
        moves = list(self.moves(before, seen))
        for broken in invariants.of_share(before, moves, seen, self.rules):
            raise _Violation(broken, world, number, f"may do {[move.label for move in moves]}")
        for move in moves:
            for broken in chain(invariants.of_move(before, move), invariants.of_job(move.job, self.rules)):
                raise _Violation(broken, world, number, f"{move.label}\n      {move.job}")
            became = self.number(move.job)
            if move.effect is Effect.NOTHING:
                lone.add(became)
            else:
                shared.add((became, move.effect))
            leads_on |= invariants.leads_on(before, move, self.rules)
        way = self.ways[number][others] = Way(tuple(lone - {number}), tuple(shared), leads_on)
        return way

    def met(self) -> Iterator[tuple[Job, Others]]:
        """Every job beside everything that was seen of the others."""
        for job, ways in zip(self.jobs, self.ways, strict=True):
            for others in ways:
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

    def spread(self, world: int, place: int, became: int, effect: Effect) -> list[int]:
        """The states after a step with an effect: on each of the others of its service in turn, or on all at once."""
        number = world >> PLACES[place] & MASK
        service, change = self.jobs[number].service, became - number << PLACES[place]
        if effect is Effect.FILL:
            [cleared] = self.spread(world, place, became, Effect.DROP_LEFTOVERS)
            return self.spread(cleared, place, became, Effect.WAKE)
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
        self.ways.append({})
        return number

    def trace(self, world: int, number: int, last: str) -> Iterator[str]:
        """The steps from the beginning to a state, and the one of a job with this number that went wrong there.

        Jobs keep their places: of the orders of a state it follows the one that the steps lead to.
        """
        path = [world]
        while (parent := self.parents[path[-1]]) >= 0:
            path.append(parent)
        here = path.pop()
        for count, after in enumerate(reversed(path), 1):
            step, here = self.step_between(here, after)
            yield f"{count:4}. {step}"
        if last:
            place = _numbers(here).index(number)
            yield f"{len(path) + 1:4}. job {place + 1}: {last}"

    def step_between(self, before: int, after: int) -> tuple[str, int]:
        """Which step of which job leads from one state to an order of the next, and to which one."""
        numbers = _numbers(before)
        for place, number in enumerate(numbers):
            others = sum(self.shares[other] for where, other in enumerate(numbers) if where != place)
            for move in self.moves(self.jobs[number], _unpacked(others, self.jobs[number].service)):
                became = self.number(move.job)
                alone = before + (became - number << PLACES[place])
                for reached in (
                    [alone] if move.effect is Effect.NOTHING else self.spread(before, place, became, move.effect)
                ):
                    if self.ordered(*_numbers(reached)) == after:
                        return f"job {place + 1}: {move.label}\n      {move.job}", reached
        raise AssertionError("no step leads there")


def _numbers(world: int) -> list[int]:
    return [world >> place & MASK for place in PLACES]


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
