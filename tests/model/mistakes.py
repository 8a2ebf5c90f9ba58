"""Mistakes that people make in such services, each a small change of the steps, and what each breaks.

They are to be found: a model in which nothing can go wrong shows nothing by going right (docs/adr/0023).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from app.domain.queues import Service
from tests.model import steps
from tests.model.job import HELD, Hold, Holder, Job, Message, Others, Payer, Record, Slot
from tests.model.steps import Effect, Move, Rules, Step


@dataclass(frozen=True)
class Mistake:
    """breaks: the invariant by its name; steps: those that it changes; carrying: whether it is one of places;
    spec_units: of one of two services, the limit under which it shows itself."""

    name: str
    breaks: str
    steps: dict[str, Step]
    carrying: bool = False
    spec_units: int = 0

    def __str__(self) -> str:
        return self.name


MISTAKES: list[Mistake] = []


def mistake(breaks: str, *replaced: str, carrying: bool = False, spec_units: int = 0) -> Callable[[Step], Step]:
    """A function that stands for these steps and makes a mistake in each."""

    def add(step: Step) -> Step:
        MISTAKES.append(Mistake(step.__name__, breaks, dict.fromkeys(replaced, step), carrying, spec_units))
        return step

    return add


def altered(breaks: str, *names: str) -> Callable[[Callable[[Move], Move]], Callable[[Move], Move]]:
    """A function that alters the moves of these steps."""

    def add(alter: Callable[[Move], Move]) -> Callable[[Move], Move]:
        def altering(right: Step) -> Step:
            return lambda job, others, rules: map(alter, right(job, others, rules))

        changed = {name: altering(steps.STEPS[name]) for name in names}
        MISTAKES.append(Mistake(alter.__name__, breaks, changed))
        return alter

    return add


# Reservations and units


@mistake("I1", "accept")
def quota_is_checked_before_the_transaction(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if job.payer is Payer.NONE and not job.looked and others.units < rules.units:
        yield Move("check quota", job.but(looked=True))
    if job.looked:
        yield Move("accept", Job(Message.READY, payer=Payer.PAYS, reservation=Hold.FRESH, service=job.service))


@mistake("I1", "come_back")
def payer_comes_back_unchecked(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    yield from steps.come_back(job, others._replace(units=0), rules)


@mistake("I4", "sweep")
def reservation_ends_after_an_hour(job: Job, _: Others, __: Rules) -> Iterator[Move]:
    if job.reservation is Hold.AGED:
        yield Move("sweep drops what is old", job.but(reservation=Hold.NONE))


@altered("I4", "fail")
def reservation_ends_with_each_attempt(move: Move) -> Move:
    return move._replace(job=move.job.but(reservation=Hold.NONE))


@altered("I4", "cancel_by_payer")
def cancel_keeps_the_reservation(move: Move) -> Move:
    ended = move.job.record is Record.CANCELLED
    return move._replace(job=move.job.but(reservation=Hold.FRESH)) if ended else move


@altered("I4", "cancel_by_payer")
def payer_who_leaves_goes_on_paying(move: Move) -> Move:
    left = move.job.payer is Payer.LEFT
    return move._replace(job=move.job.but(reservation=Hold.FRESH)) if left else move


# Bills


@mistake("I3", "finish")
def usage_event_has_a_commit_of_its_own(job: Job, _: Others, __: Rules) -> Iterator[Move]:
    if job.message is Message.STARTED and job.holder is Holder.ALIVE:
        yield Move("finish", steps.end(job, Record.COMPLETED), Effect.WAKE)
    if job.record is Record.COMPLETED and job.payer is Payer.PAYS and not job.billed:
        yield Move("write the usage event", job.but(billed=1))


@altered("I3", "fail")
def failed_work_is_billed(move: Move) -> Move:
    return move._replace(job=move.job.but(billed=1)) if move.job.record is Record.FAILED else move


@mistake("I3", "finish")
def finish_overlooks_the_cancel(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    yield from steps.finish(job.but(cancelling=False), others, rules)


# Messages


@mistake("I2", "accept")
def message_is_published_after_the_commit(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    for move in steps.accept(job, others, rules):
        yield Move("reserve", move.job.but(message=Message.NONE))
    if job.unfinished and job.message is Message.NONE:
        yield Move("publish", job.but(message=Message.READY))


@mistake("I2", "accept")
def message_is_published_before_the_commit(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if job == Job():
        yield Move("publish", job.but(message=Message.READY))
    elif job.payer is Payer.NONE and others.units < rules.units:
        yield Move("reserve", job.but(payer=Payer.PAYS, reservation=Hold.FRESH))


@altered("I2", "claim")
def message_is_deleted_when_it_is_claimed(move: Move) -> Move:
    return move._replace(job=move.job.but(message=Message.NONE))


@mistake("I2", "finish")
def message_is_deleted_before_the_results(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if job.message is Message.STARTED and job.holder is Holder.ALIVE:
        yield Move("acknowledge", job.but(message=Message.NONE))
    if job.message is Message.NONE and job.holder is Holder.ALIVE:
        yield from steps.finish(job.but(message=Message.STARTED), others, rules)


@altered("I2", "fail")
def retry_publishes_a_second_message(move: Move) -> Move:
    return move._replace(job=move.job.but(twins=1)) if move.job.message is Message.BACKOFF else move


@altered("I2", "cancel_by_payer")
def cancel_takes_the_message_of_a_running_job(move: Move) -> Move:
    return move._replace(job=move.job.but(message=Message.NONE)) if move.job.cancelling else move


@altered("wanted", "cancel_by_joiner")
def joiner_ends_the_job_of_its_payer(move: Move) -> Move:
    return move._replace(job=steps.end(move.job, Record.CANCELLED))


# Tokens


def _passes(label: str, job: Job, zombies: Iterator[Move], after: Callable[[Job], Job]) -> Iterator[Move]:
    """The zombies' moves, of which those with this label are let through."""
    for move in zombies:
        through = move.label.startswith(label) and job.message is not Message.NONE
        yield move._replace(job=after(move.job)) if through else move


@mistake("I6", "zombies")
def finish_does_not_check_the_token(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    yield from _passes("finish", job, steps.zombies(job, others, rules), steps.complete)


@mistake("I6", "zombies")
def fail_does_not_check_the_token(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    yield from _passes("fail", job, steps.zombies(job, others, rules), lambda after: steps.end(after, Record.FAILED))


@mistake("I6", "zombies")
def start_does_not_check_the_token(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    yield from _passes(
        "start", job, steps.zombies(job, others, rules), lambda after: next(steps.begin(after, Effect.NOTHING)).job
    )


@mistake("I6", "zombies")
def token_stays_when_a_message_is_rescued(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    moves = steps.zombies(job, others, rules)
    yield from _passes("finish", job, moves, steps.complete) if job.message in HELD else moves


@mistake("I6", "zombies")
def zombie_frees_a_slot_of_its_user(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    for move in steps.zombies(job, others, rules):
        yield move._replace(effect=Effect.FREE_A_SLOT)


@mistake("I2", "zombies")
def late_failure_overwrites_an_end(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    for move in steps.zombies(job, others, rules):
        over = job.record is Record.COMPLETED and move.label.startswith("fail")
        yield move._replace(job=move.job.but(record=Record.FAILED)) if over else move


# Slots, attempts, wakes


@mistake("I5", "start")
def slots_are_counted_before_the_lock(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if job.message is Message.LEASED and job.holder is Holder.ALIVE and job.looked:
        yield from steps.begin(job.but(looked=False), Effect.DROP_LEFTOVERS)
    elif job.message is Message.LEASED and others.slots < rules.slots:
        yield Move("count slots", job.but(looked=True))
    else:
        yield from steps.start(job, others, rules)


@altered("I5", "fail")
def failure_keeps_its_slot(move: Move) -> Move:
    return move._replace(job=move.job.but(slot=Slot.DEAD)) if move.job.record is Record.FAILED else move


@altered("attempts", "start")
def snooze_spends_an_attempt(move: Move) -> Move:
    asleep = move.job.message is Message.SNOOZED
    return move._replace(job=move.job.but(spent=move.job.spent + 1)) if asleep else move


@altered("attempts", "expire")
def message_that_was_only_claimed_loses_an_attempt(move: Move) -> Move:
    return move._replace(job=move.job.but(spent=move.job.spent + 1)) if not move.job.late else move


@mistake("stuck", "expire")
def leases_of_the_dead_never_end(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if job.holder is not Holder.GONE:
        yield from steps.expire(job, others, rules)


@mistake("I5", "start", carrying=True)
def slot_is_taken_from_the_payer(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    """As a worker does that asks the task's argument, while the start of the payer's own jobs asks the message."""
    if job.message is Message.LEASED and job.away and others.slots >= rules.slots:
        yield from steps.begin(job.but(away=False), Effect.NOTHING)
    else:
        yield from steps.start(job, others, rules)


@mistake("I5", "join", carrying=True)
def running_job_moves_into_the_line_of_who_joins(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if job.message in HELD and not job.joined and not job.cancelling:
        yield Move("join, carried away", job.but(joined=True, away=True, slot=Slot.NONE))
    else:
        yield from steps.join(job, others, rules)


# Two services


@mistake("shares", "start", spec_units=4)
def slots_of_both_services_are_counted_together(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    yield from steps.start(job, others._replace(slots=others.slots + others.other_slots), rules)


@mistake("shares", "accept", spec_units=4)
def units_of_both_services_are_counted_together(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    yield from steps.accept(job, others._replace(units=others.units + others.other_units), rules)


@mistake("I5", "start", spec_units=4)
def slots_are_counted_in_the_other_service(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if others.slots < rules.slots:
        yield from steps.start(job, others, rules)
    else:
        yield from steps.start(job, others._replace(slots=others.other_slots), rules)


@mistake("I1", "accept", spec_units=3)
def specification_is_admitted_for_one_unit(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    yield from steps.accept(job, others._replace(units=others.units + 1 - job.cost), rules)


@mistake("I3", "finish", spec_units=4)
def specification_is_billed_for_more_than_it_holds(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    for move in steps.finish(job, others, rules):
        over = move.job.billed == job.cost and job.service is Service.SPECVIEW
        yield move._replace(job=move.job.but(billed=job.cost + 1)) if over else move


@mistake("I3", "fail", spec_units=4)
def what_a_failed_specification_wrote_is_billed(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    for move in steps.fail(job, others, rules):
        wrote = move.job.record is Record.FAILED and job.service is Service.SPECVIEW
        yield move._replace(job=move.job.but(billed=1)) if wrote else move


@mistake("alone", "join", spec_units=4)
def somebody_joins_a_specification(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    for move in steps.join(job.but(service=Service.ANALYSIS), others, rules):
        yield move._replace(job=move.job.but(service=job.service))


def _without_wake(step: Step) -> Step:
    def silent(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
        for move in step(job, others, rules):
            yield move._replace(effect=Effect.NOTHING) if move.effect is Effect.WAKE else move

    return silent


def _without_net(job: Job, others: Others, rules: Rules) -> Iterator[Move]:
    if job.message is not Message.SNOOZED:
        yield from steps.due(job, others, rules)


def _forgotten(*names: str) -> dict[str, Step]:
    return {"due": _without_net, **{name: _without_wake(steps.STEPS[name]) for name in names}}


MISTAKES += [
    Mistake("no_wake_and_no_countdown", "stuck", _forgotten("start", "finish", "fail", "stop")),
    Mistake("failure_wakes_nobody_and_no_countdown", "stuck", _forgotten("fail")),
]
