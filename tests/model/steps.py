"""The steps of a job's life, each one commit, named after the services that make them (docs/adr/0023).

A step is given one job and what it sees of the others, and yields every way it may go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from app.domain.queues import Service
from tests.model.job import HELD, Hold, Holder, Job, Message, Others, Payer, Record, Slot


@dataclass(frozen=True)
class Rules:
    """units, slots: limits of the user; zombies: most per job at a time; joinable: whether a second user may join; carrying: whether
    jobs move into the lines of those who joined; there: of a job that is away, the others are
    those of the line where it is, and not its payer's.

    held: the broker still holds the user's next jobs back, although what waited has become ready by itself;
    spec_units: limit of specifications; services: of each job.
    """

    units: int = 2
    slots: int = 1
    workers: int = 3
    attempts: int = 3
    zombies: int = 1
    joinable: bool = True
    carrying: bool = True
    there: bool = False
    held: bool = False
    spec_units: int = 3
    services: tuple[Service, ...] = (Service.ANALYSIS,) * 3

    def limit(self, service: Service) -> int:
        """Units of the user."""
        return self.units if service is Service.ANALYSIS else self.spec_units


class Effect(StrEnum):
    """What a commit changes on the user's other jobs of the same service."""

    NOTHING = "nothing"
    WAKE = "wake"  #: one snoozed job, whichever: the oldest one may be locked
    DROP_LEFTOVERS = "drop leftovers"
    HOLD_BACK = "hold back"  #: drop leftovers, and let wait what is ready
    FILL = "fill"  #: drop leftovers, and wake one
    FREE_A_SLOT = "free a slot"  #: somebody's live one; only a mistake does that


class Move(NamedTuple):
    """One way a step may go.  zombie: made under a lease that is lost."""

    label: str
    job: Job
    effect: Effect = Effect.NOTHING
    zombie: bool = False


Step = Callable[[Job, Others, Rules], Iterator[Move]]


def accept(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    """Asked again after a lost answer it meets its own message and changes nothing, so there is no such move."""
    if job.payer is Payer.NONE and fits(job, others, rules):
        accepted = Job(Message.READY, payer=Payer.PAYS, reservation=Hold.FRESH, service=job.service)
        if others.ready <= rules.slots:
            yield Move("accept", accepted)
        if others.ready > rules.slots or others.snoozed or rules.held:
            yield Move("accept, held back", accepted.but(message=Message.SNOOZED))


def join(job: Job, _: Others, rules: Rules) -> Iterator[Move]:
    """The one who joins takes the job into their line, should it wait for less there.  A document is its owner's alone."""
    if rules.joinable and job.service is Service.ANALYSIS and _joinable(job) and not job.joined:
        yield Move("join", job.but(joined=True))
        if rules.carrying:
            yield from carry(job.but(joined=True), "join, carried away", away=True)


def another_joins(job: Job, _: Others, rules: Rules) -> Iterator[Move]:
    """Besides somebody who joined before."""
    if rules.carrying and rules.joinable and _joinable(job) and job.joined:
        yield Move("another joins", job)
        yield from carry(job, "another joins, carried away", away=True)


def come_back(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if job.payer is Payer.LEFT and _joinable(job) and fits(job, others, rules):
        back = job.but(payer=Payer.PAYS, reservation=Hold.FRESH)
        yield Move("payer comes back", back)
        if job.away:
            yield from carry(back, "payer comes back, carried home", away=False)


def claim(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if job.message is Message.READY and others.workers + job.early + job.late < rules.workers:
        yield Move("claim", job.but(message=Message.LEASED, holder=Holder.ALIVE))


def start(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if job.message is not Message.LEASED or job.holder is not Holder.ALIVE:
        return
    if job.cancelling:
        yield from _answered("start meets the cancel", end(job, Record.CANCELLED), Effect.WAKE, rules)
        return
    if job.spent >= rules.attempts:
        yield from _answered("start finds no attempt left", end(job, Record.FAILED), Effect.WAKE, rules)
        return
    unknown = job.away and not rules.there
    if unknown or others.slots < rules.slots:
        yield from begin(job, Effect.DROP_LEFTOVERS)
        if others.snoozed and not others.ready and others.slots + 1 < rules.slots:
            yield from begin(job, Effect.FILL)
    if unknown or others.slots >= rules.slots:
        yield from _snoozed(job, rules)


def finish(job: Job, _: Others, rules: Rules) -> Iterator[Move]:
    if job.message is not Message.STARTED or job.holder is not Holder.ALIVE:
        return
    if job.cancelling:
        yield from _answered("finish meets the cancel", end(job, Record.CANCELLED), Effect.WAKE, rules)
    else:
        for billed in settled(job):
            yield from _answered("finish", end(job, Record.COMPLETED).but(billed=billed), Effect.WAKE, rules)


def fail(job: Job, _: Others, rules: Rules) -> Iterator[Move]:
    if job.message is not Message.STARTED or job.holder is not Holder.ALIVE:
        return
    if job.cancelling:
        yield from _answered("fail meets the cancel", end(job, Record.CANCELLED), Effect.WAKE, rules)
        return
    yield from _answered("fail", end(job, Record.FAILED), Effect.WAKE, rules)
    if job.spent + 1 < rules.attempts:
        again = job.but(message=Message.BACKOFF, holder=Holder.NONE, slot=Slot.NONE, spent=job.spent + 1)
        yield from _answered("retry", again, Effect.WAKE, rules)


def stop(job: Job, _: Others, rules: Rules) -> Iterator[Move]:
    if job.message is Message.STARTED and job.holder is Holder.ALIVE and job.cancelling:
        yield from _answered("stop", end(job, Record.CANCELLED), Effect.WAKE, rules)


def die(job: Job, _: Others, __: Rules) -> Iterator[Move]:
    if job.holder is Holder.ALIVE:
        yield Move("worker dies", job.but(holder=Holder.GONE))


def expire(job: Job, _: Others, rules: Rules) -> Iterator[Move]:
    """The lease ends: its worker is dead, or too slow and now a zombie.  A renewal only puts this off."""
    if job.message not in HELD or (job.holder is Holder.ALIVE and not _has_room(job, rules)):
        return
    started = job.message is Message.STARTED
    slow = job.holder is Holder.ALIVE
    yield Move(
        "lease ends",
        job.but(
            message=Message.READY,
            holder=Holder.NONE,
            spent=job.spent + started,
            slot=Slot.DEAD if job.slot is Slot.LIVE else job.slot,
            early=job.early + (slow and not started),
            late=job.late + (slow and started),
        ),
    )


def zombies(job: Job, _: Others, __: Rules) -> Iterator[Move]:
    """The fence finds no message under the old token, and the worker goes to other work."""
    if job.early:
        yield Move("start by a zombie", job.but(early=job.early - 1), zombie=True)
    if job.late:
        for what in ("finish", "fail", "stop", "heartbeat"):
            yield Move(f"{what} by a zombie", job.but(late=job.late - 1), zombie=True)


def due(job: Job, _: Others, __: Rules) -> Iterator[Move]:
    if job.message in (Message.SNOOZED, Message.BACKOFF):
        yield Move(f"{job.message} is due", job.but(message=Message.READY))


def cancel_by_payer(job: Job, _: Others, rules: Rules) -> Iterator[Move]:
    if job.payer is not Payer.PAYS or not _joinable(job):
        return
    if job.joined:
        left = job.but(payer=Payer.LEFT, reservation=Hold.NONE)
        if job.away or job.message in HELD or not rules.carrying:
            yield Move("payer leaves", left)
        else:
            yield from carry(left, "payer leaves, carried away", away=True)
    else:
        yield withdraw(job.but(payer=Payer.QUIT), "payer cancels", rules)


def cancel_by_joiner(job: Job, _: Others, rules: Rules) -> Iterator[Move]:
    if not job.joined or not _joinable(job):
        return
    if job.payer is Payer.PAYS:
        # one that was carried by somebody who left while a worker held it stays away
        yield Move("joiner leaves", job.but(joined=False))
        if job.away:
            yield from carry(job.but(joined=False), "joiner leaves, carried home", away=False)
    else:
        yield withdraw(job.but(joined=False), "the last joiner leaves", rules)


def another_leaves(job: Job, _: Others, rules: Rules) -> Iterator[Move]:
    """A joiner, and others stay."""
    if rules.carrying and rules.joinable and job.joined and _joinable(job):
        yield Move("another leaves", job)
        if job.away:
            yield from carry(job, "another leaves, carried on", away=True)
            if job.payer is Payer.PAYS:
                yield from carry(job, "another leaves, carried home", away=False)


def hour(job: Job, _: Others, __: Rules) -> Iterator[Move]:
    if job.reservation is Hold.FRESH:
        yield Move("an hour passes", job.but(reservation=Hold.AGED))


def sweep(job: Job, _: Others, __: Rules) -> Iterator[Move]:
    if job.reservation is Hold.AGED and job.message is not Message.NONE:
        yield Move("sweep pushes on", job.but(reservation=Hold.FRESH))
    if job.reservation is Hold.AGED and job.message is Message.NONE:
        yield Move("sweep drops an orphan", job.but(reservation=Hold.NONE))
    if job.slot is Slot.DEAD:
        yield Move("sweep frees a dead slot", job.but(slot=Slot.NONE), Effect.WAKE)


STEPS: dict[str, Step] = {
    step.__name__: step
    for step in (
        accept,
        join,
        another_joins,
        come_back,
        claim,
        start,
        finish,
        fail,
        stop,
        die,
        expire,
        zombies,
        due,
        cancel_by_payer,
        cancel_by_joiner,
        another_leaves,
        hour,
        sweep,
    )
}


def begin(job: Job, effect: Effect) -> Iterator[Move]:
    """Take a slot and make the record."""
    running = job.but(message=Message.STARTED, record=Record.RUNNING, slot=Slot.LIVE)
    yield Move("start", running, effect)
    # a worker that does not know gives the message back, as if it had died
    yield Move("start, answer lost", running.but(holder=Holder.GONE), effect)


def carry(job: Job, label: str, *, away: bool) -> Iterator[Move]:
    """Into another line, where no worker holds it: ready or parked there; the one it leaves has a place to give."""
    effect = Effect.WAKE if job.message is Message.READY else Effect.NOTHING
    moved = job.but(away=away, slot=Slot.NONE)
    if job.message in (Message.READY, Message.SNOOZED):
        yield Move(label, moved.but(message=Message.READY), effect)
        yield Move(f"{label}, parked", moved.but(message=Message.SNOOZED), effect)
    elif job.message is Message.BACKOFF:
        yield Move(label, moved, effect)


def fits(job: Job, others: Others, rules: Rules) -> bool:
    """Whether its units are free."""
    return others.units + job.cost <= rules.limit(job.service)


def settled(job: Job) -> range:
    """What it may be billed: an analysis its unit, a specification at most what it holds."""
    held = job.cost * (job.reservation is not Hold.NONE)
    return range(0 if job.service is Service.SPECVIEW else held, held + 1)


def complete(job: Job) -> Job:
    """Settled to all that it holds, and ended."""
    return end(job, Record.COMPLETED).but(billed=job.billed + settled(job)[-1])


def end(job: Job, record: Record) -> Job:
    """What every end of a running job has in common."""
    return job.but(
        message=Message.NONE,
        record=record,
        holder=Holder.NONE,
        reservation=Hold.NONE,
        slot=Slot.NONE,
        cancelling=False,
    )


def withdraw(job: Job, label: str, rules: Rules) -> Move:
    """Nobody wants it any more: it ends here, or its worker is asked to end it when there is a record."""
    if job.record is Record.RUNNING:
        ready = Message.READY if job.message in (Message.SNOOZED, Message.BACKOFF) else job.message
        return Move(label, job.but(message=ready, cancelling=True))
    unaware = job.holder is Holder.ALIVE and _has_room(job, rules)
    ended = end(job, Record.CANCELLED).but(early=job.early + unaware)
    # a job that was about to start may be the one that a free slot had woken
    return Move(label, ended, Effect.WAKE if job.message is not Message.SNOOZED else Effect.NOTHING)


def apply_to_another(effect: Effect, job: Job) -> Job | None:
    """Another job after an effect; None: it does not concern that job."""
    if job.away:
        return None
    if effect is Effect.WAKE and job.message is Message.SNOOZED:
        return job.but(message=Message.READY)
    if effect is Effect.DROP_LEFTOVERS and job.slot is Slot.DEAD:
        return job.but(slot=Slot.NONE)
    if effect is Effect.HOLD_BACK and (job.slot is Slot.DEAD or _parks(job)):
        slot = Slot.NONE if job.slot is Slot.DEAD else job.slot
        return job.but(slot=slot, message=Message.SNOOZED if _parks(job) else job.message)
    if effect is Effect.FREE_A_SLOT and job.slot is Slot.LIVE:
        return job.but(slot=Slot.NONE)
    return None


def _parks(job: Job) -> bool:
    """Whether it waits when a sibling finds no slot; one that is to end needs none."""
    return job.message is Message.READY and not job.cancelling


def _snoozed(job: Job, rules: Rules) -> Iterator[Move]:
    asleep = job.but(message=Message.SNOOZED, holder=Holder.NONE, slot=Slot.NONE)
    for place in _no_strays(asleep) if rules.carrying else (asleep,):
        yield Move("snooze", place, Effect.HOLD_BACK)
        if _has_room(job, rules):
            yield Move("snooze, answer lost", place.but(early=job.early + 1), Effect.HOLD_BACK)


def _no_strays(job: Job) -> Iterator[Job]:
    """Where a job waits that a worker gave back: should whoever carries it have left, in the line of another one."""
    if not job.away and job.payer is Payer.LEFT:
        yield from (move.job for move in carry(job, "", away=True))
        return
    yield job
    if job.away and job.joined:
        yield from (move.job for move in carry(job, "", away=True))
    if job.away and job.payer is Payer.PAYS:
        yield from (move.job for move in carry(job, "", away=False))


def _joinable(job: Job) -> bool:
    return job.unfinished and job.message is not Message.NONE and not job.cancelling


def _has_room(job: Job, rules: Rules) -> bool:
    return job.early + job.late < rules.zombies


def _answered(label: str, after: Job, effect: Effect, rules: Rules) -> Iterator[Move]:
    yield Move(label, after, effect)
    if _has_room(after, rules):
        yield Move(f"{label}, answer lost", after.but(late=after.late + 1), effect)
