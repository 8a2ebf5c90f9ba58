"""Keep a job that several users asked for in the line of the one who has the best right (docs/adr/0046)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from app.domain import carriers as rules
from app.domain.carriers import Right
from app.domain.fairness import STEP_OF_A_SECOND
from app.domain.queues import Service, select_queue
from app.services.fairness import wake_jobs
from app.services.policy import Policy
from app.store import carriers, events, requests, users
from app.store.unit_of_work import BehindError, Tx, UnitOfWork, retried
from app.store.users import Account

SERVICE = Service.ANALYSIS
#: Messages that one look over those that wait reads.
AT_ONCE = 1_000
#: What the schedule has a right to.
SCHEDULE = Right(None, select_queue(SERVICE, None, scheduled=True), None, None, STEP_OF_A_SECOND)

#: Those in whose lines a job may wait, None for the schedule; given who carries it, who comes first if among them.
Candidates = Callable[[UUID | None], list[Account | None]]


def right_of(account: Account | None, policy: Policy) -> Right:
    """What a user has a right to; None: the schedule."""
    if account is None:
        return SCHEDULE
    fair = policy.fairness
    return Right(
        account.user_id,
        select_queue(SERVICE, account.tier),
        fair.slots(account.plan, account.slot_limit) if fair.holds_back else None,
        fair.most_ready(account.plan, account.slot_limit),
        account.step(SERVICE),
    )


def joined(tx: Tx, job_id: UUID, account: Account, policy: Policy) -> None:
    """Move a job into the line of somebody who asked for it too, where it waits for fewer runs there.

    Locks: the caller holds the joiner's users row; then that of the line it leaves, if it is free; the message.
    Raises: BehindError where it is not.
    """
    _place(tx, job_id, policy, lambda carrier: [users.find(tx, carrier) if carrier else None, account])


def settle(tx: Tx, job_id: UUID, policy: Policy) -> None:
    """Work out again in whose line a job waits, over all who ask for it now: somebody left, or has another right.

    Locks, Raises: as joined, of both lines.
    """

    def candidates(carrier: UUID | None) -> list[Account | None]:
        askers = sorted(carriers.askers(tx, job_id), key=lambda asker: asker.user_id != carrier)
        if askers:
            return [*askers]
        accepted = requests.accepted(tx, job_id)
        return [None] if accepted and accepted.user_id is None else []

    _place(tx, job_id, policy, candidates)


def settle_joined(tx: Tx, user_id: UUID, policy: Policy) -> None:
    """As settle, of the jobs that a user joined and somebody else carries: the user has another right now."""
    for job_id in carriers.joined_elsewhere(tx, user_id):
        settle(tx, job_id, policy)


def settle_waiting(uow: UnitOfWork, policy: Policy) -> None:
    """As settle, of every job that waits and that somebody joined, each in a transaction of its own.

    For rights that change while nobody asks: a line that became shorter, a queue that was paused, somebody who left
    while a worker held the job.
    """
    after: int | None = None
    while True:
        with uow.begin() as tx:
            found, after = carriers.shared(tx, after, AT_ONCE)
        for job_id in found:
            _settle_one(uow, job_id, policy)
        if after is None:
            return


@retried
def _settle_one(uow: UnitOfWork, job_id: UUID, policy: Policy) -> None:
    with uow.begin() as tx:
        settle(tx, job_id, policy)


def _place(tx: Tx, job_id: UUID, policy: Policy, candidates: Candidates) -> None:
    while (seen := carriers.seen(tx, job_id)) and seen.free:
        chosen = _best(tx, job_id, candidates(seen.carrier), policy)
        if chosen is None or chosen.user_id == seen.carrier:
            return
        lines = {user_id for user_id in (seen.carrier, chosen.user_id) if user_id}
        if not all(users.try_hold(tx, user_id) for user_id in sorted(lines)):
            raise BehindError(lines)
        carriers.keep(tx, job_id)
        # again, now that nothing changes any more: a wake may have come first, and no place is left for a worse one
        if carriers.seen(tx, job_id) == seen and _best(tx, job_id, candidates(seen.carrier), policy) == chosen:
            _carry(tx, job_id, seen.carrier, chosen)
            return


def _best(tx: Tx, job_id: UUID, accounts: Sequence[Account | None], policy: Policy) -> Right | None:
    """The best right of these, the first one's if another is no better; None: there is none."""
    rights = [right_of(account, policy) for account in accounts]
    if len(rights) < 2:
        return next(iter(rights), None)
    return rules.best(rights, carriers.turns(tx, job_id, rights))


def _carry(tx: Tx, job_id: UUID, carrier: UUID | None, right: Right) -> None:
    was = carriers.carry(tx, job_id, right)
    if was is None:
        return
    events.add(tx, job_id, "carried", queue=right.queue)
    if carrier and (before := users.find(tx, carrier)):
        # a ready one may be the one that a free slot had woken: the slot is the next one's
        wake_jobs.wake(tx, before, SERVICE, most=int(was == "ready"))
