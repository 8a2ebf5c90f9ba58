"""What must hold after every commit; the numbers are those of the audit, the words are for what they leave open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.domain.queues import Service
from tests.model.job import Hold, Holder, Job, Message, Others, Payer, Record, Slot
from tests.model.steps import Effect, Move, Rules, fits

#: (name, what is wrong)
Broken = tuple[str, str]


def of_job(job: Job, rules: Rules) -> Iterator[Broken]:
    """What is wrong with one job by itself."""
    if job.payer is Payer.NONE and job.but(looked=False) != Job(service=job.service):
        yield "I2", "nobody asked for this job, but there is something of it"
    if job.unfinished and (job.message is Message.NONE or job.twins):
        yield "I2", f"an unfinished job has {(job.message is not Message.NONE) + job.twins} messages"
    if job.ended and (job.message is not Message.NONE or job.twins):
        yield "I2", "an ended job has a message"
    to_bill = job.record is Record.COMPLETED and job.payer is Payer.PAYS
    least = 1 if job.service is Service.ANALYSIS else 0
    if not least * to_bill <= job.billed <= job.cost * to_bill:
        yield "I3", f"{job.billed} units billed of a job that is {job.record} and whose payer {job.payer}"
    paid_for = job.unfinished and job.payer in (Payer.PAYS, Payer.QUIT)
    if (job.reservation is not Hold.NONE) != paid_for:
        yield "I4", "a reservation without an unfinished job to pay for, or such a job without one"
    if (job.slot is Slot.LIVE) != (job.message is Message.STARTED) or (
        job.slot is not Slot.NONE and not job.unfinished
    ):
        yield "I5", "a running job without a slot, or a slot that outlives its job"
    if (job.cancelling or job.record is Record.CANCELLED) and (job.joined or job.payer is Payer.PAYS):
        yield "wanted", "a job that somebody wants is cancelled"
    if job.joined and job.service is Service.SPECVIEW:
        yield "alone", "somebody has joined a specification"
    if job.spent > rules.attempts:
        yield "attempts", f"attempt {job.spent} of {rules.attempts} was spent"


def of_move(before: Job, move: Move) -> Iterator[Broken]:
    """What is wrong with one step."""
    after = move.job
    if before.ended and _without_zombies(before) != _without_zombies(after):
        yield "I2", "an ended job has changed"
    if move.zombie and (_without_zombies(before) != _without_zombies(after) or move.effect is not Effect.NOTHING):
        yield "I6", "a step under a lost lease has changed something"
    if after.spent != before.spent and not (after.spent == before.spent + 1 and before.message is Message.STARTED):
        yield "attempts", "an attempt was spent by something else than the end of one"
    if move.label == "sweep drops an orphan":
        yield "I4", "the sweep has found an orphan"


def of_share(before: Job, moves: Sequence[Move], others: Others, rules: Rules) -> Iterator[Broken]:
    """What is wrong with what a job may do: the user's share of a service is told by that service alone."""
    here = not before.away and before.message is Message.LEASED
    if here and others.slots < rules.slots and any(move.label.startswith("snooze") for move in moves):
        yield "shares", "a job is snoozed although its service has a slot"
    if before == Job(service=before.service) and not moves and fits(before, others, rules):
        yield "shares", "a job is refused although its service has units for it"


def of_user(total: Others, rules: Rules, service: Service) -> Iterator[Broken]:
    """What is wrong with all jobs of a user together.  total: the sums over all of them of a service."""
    if total.units > rules.limit(service):
        yield "I1", f"{total.units} of {rules.limit(service)} units are used or reserved"
    if total.slots > rules.slots:
        yield "I5", f"{total.slots} of {rules.slots} slots are taken"
    if total.workers > rules.workers:
        yield "workers", f"{total.workers} of {rules.workers} workers are busy"


LONGEST = 7
#: Commits from here to the end of the attempt; that of a dead worker ends with its lease.
STAGES = {
    (Message.SNOOZED, Holder.NONE): 6,
    (Message.BACKOFF, Holder.NONE): 6,
    (Message.LEASED, Holder.GONE): 6,
    (Message.READY, Holder.NONE): 5,
    (Message.LEASED, Holder.ALIVE): 4,
    (Message.STARTED, Holder.ALIVE): 3,
    (Message.STARTED, Holder.GONE): 2,
}


def distance(job: Job, rules: Rules) -> int:
    """How far a job is from its end, at most; 0: it is there, and no worker is at it.

    While in every state with a distance some move makes the sum smaller, an end can be reached from every state: a sum
    of natural numbers cannot shrink for ever.  An attempt that is left weighs more than all stages of one attempt.
    """
    busy = job.early + job.late
    if not job.unfinished:
        return busy
    stage = 2 * STAGES.get((job.message, job.holder), LONGEST) - job.looked
    return busy + (2 * LONGEST + 1) * (rules.attempts - job.spent) + stage


def leads_on(before: Job, move: Move, rules: Rules) -> bool:
    """Whether a step brings the jobs nearer to their ends; its effects on others never take any of them back."""
    return distance(move.job, rules) < distance(before, rules)


def _without_zombies(job: Job) -> Job:
    return job.but(early=0, late=0)
