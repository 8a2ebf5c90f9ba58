"""Keep a job that several users asked for in the line of the asker with the best right (docs/adr/0046)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from app.domain import carriers as rules
from app.domain.carriers import Right
from app.domain.fairness import STEP_OF_A_SECOND
from app.domain.queues import Service, select_queue
from app.services.fairness import wake_jobs
from app.services.policy import Policy
from app.store.accounts import users
from app.store.accounts.users import Payer
from app.store.core.unit_of_work import BehindError, Tx, UnitOfWork, retried
from app.store.fairness import carriers
from app.store.jobs import events, requests

SERVICE = Service.ANALYSIS
#: How many messages one query over the waiting ones reads.
AT_ONCE = 1_000
#: The right of the schedule.
SCHEDULE = Right(None, select_queue(SERVICE, None, scheduled=True), None, None, STEP_OF_A_SECOND)

#: The users in whose lines a job may wait, None for the schedule.  The argument is the carrier, who comes first.
Candidates = Callable[[UUID | None], list[Payer | None]]


def right_of(account: Payer | None, policy: Policy) -> Right:
    """The right of a user; None means the schedule."""
    if account is None:
        return SCHEDULE
    fair = policy.fairness
    return Right(
        account.user_id,
        select_queue(SERVICE, account.tier),
        fair.slot_limit(account.plan, account.own_slot_limit) if fair.holds_back else None,
        fair.most_ready(account.plan, account.own_slot_limit),
        account.step(SERVICE),
    )


def joined(tx: Tx, job_id: UUID, account: Payer, policy: Policy) -> None:
    """Move a job into the line of a user who joined it, if fewer runs are ahead of it there.

    Locks: the caller has locked the joiner's users row; then the row of the current carrier, if it is free; the
    message.
    Raises: BehindError if that row is locked.
    """
    _place(tx, job_id, policy, lambda carrier: [users.find(tx, carrier) if carrier else None, account])


def settle(tx: Tx, job_id: UUID, policy: Policy) -> None:
    """Choose the carrier of a job again among all its present askers, after one left or got another right.

    Locks, Raises: as joined, for both lines.
    """

    def candidates(carrier: UUID | None) -> list[Payer | None]:
        askers = sorted(carriers.askers(tx, job_id), key=lambda asker: asker.user_id != carrier)
        if askers:
            return [*askers]
        accepted = requests.accepted(tx, job_id)
        return [None] if accepted and accepted.user_id is None else []

    _place(tx, job_id, policy, candidates)


def settle_joined(tx: Tx, user_id: UUID, policy: Policy) -> None:
    """Choose carriers again for the jobs that a user joined and another user carries.

    The user's right has changed, so their line may have become the better one.
    """
    for job_id in carriers.joined_elsewhere(tx, user_id):
        settle(tx, job_id, policy)


def settle_waiting(uow: UnitOfWork, policy: Policy) -> None:
    """Choose carriers again for every waiting job that somebody joined, each in a transaction of its own.

    This is for rights that change without a request: a line became shorter, a queue was paused, or an asker left while
    a worker had the job.
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
        if not all(users.try_lock_row(tx, user_id) for user_id in sorted(lines)):
            raise BehindError(lines)
        carriers.keep(tx, job_id)
        # again, now that nothing can change: a wake may have come first, and the job must not move to a worse place
        if carriers.seen(tx, job_id) == seen and _best(tx, job_id, candidates(seen.carrier), policy) == chosen:
            _carry(tx, job_id, seen.carrier, chosen)
            return


def _best(tx: Tx, job_id: UUID, accounts: Sequence[Payer | None], policy: Policy) -> Right | None:
    """The best right of these; the first one's unless another is better.  None if there is none."""
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
        # a ready job may be the one that a free slot had woken: then the slot belongs to the next job
        wake_jobs.wake(tx, before, SERVICE, most=int(was == "ready"))
