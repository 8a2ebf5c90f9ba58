"""Change slot limits while everything runs, as an operator (docs/adr/0027)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from app.domain.plans import Plan, Tier
from app.domain.queues import Service
from app.errors import Conflict, InvalidInput, Message, NotFound
from app.services.fairness import wake_jobs
from app.services.policy import Policy
from app.store.accounts import plans, users
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import audit_log

HIGHEST_SLOT_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class TierLimit:
    """The slots of a tier.

    slots: in force; of_plan: what the plan's row says; by_setting: whether FAIRNESS_*_LIMIT decides instead.
    """

    tier: Tier
    slots: int
    of_plan: int
    by_setting: bool


def tier_limits(uow: UnitOfWork, policy: Policy) -> list[TierLimit]:
    """The limits of every tier, the smallest first."""
    with uow.begin() as tx:
        return [_tier_limit(plan, policy) for plan in plans.every(tx)]


@dataclass(frozen=True, slots=True)
class OwnLimit:
    """A user whose limit is their own.  of_tier: what it would be without it."""

    user_id: UUID
    email: str | None
    tier: Tier
    slots: int
    of_tier: int


def own_limits(uow: UnitOfWork, policy: Policy, *, most: int = 100) -> list[OwnLimit]:
    """Users with a limit of their own, those with the highest first."""
    with uow.once() as tx:
        found = users.with_own_slot_limit(tx, most=most)
    limit = policy.fairness.slot_limit
    return [
        OwnLimit(one.user_id, one.email, one.tier, limit(one.plan, one.own_slot_limit), limit(one.plan))
        for one in found
    ]


def change_tier_limit(uow: UnitOfWork, tier: Tier, slots: int, policy: Policy, *, actor: str) -> TierLimit:
    """Let users of a tier run up to N jobs of each service at once; the change applies immediately to waiting jobs.

    After a lowered limit, running jobs finish.  Locks: the plan's row; then the users of the tier who wait, one after
    the other.
    Raises: InvalidInput; Conflict if a setting determines the limit.
    """
    _check(slots)
    if tier in policy.fairness.slot_limits:
        raise Conflict(
            Message(
                "FAIRNESS_%(tier)s_LIMIT=%(slots)s determines the limit of this tier: change the setting, or remove it"
                " and restart",
                tier=tier.upper(),
                slots=policy.fairness.slot_limits[tier],
            )
        )
    with uow.begin() as tx:
        before = plans.lock(tx, tier)
        plans.set_slot_limit(tx, tier, slots)
        audit_log.add(tx, actor, "plan.limit", tier.value, before=before.slot_limit, after=slots)
        waiting = users.waiting_of(tx, tier) if slots > before.slot_limit else []
    for user_id in waiting:  # each in a transaction of its own, so that no user's start has to wait for all the others
        with uow.begin() as tx:
            if account := users.lock(tx, user_id):
                wake_jobs.fill(tx, account, policy.fairness)
    return _tier_limit(replace(before, slot_limit=slots), policy)


def change_user_limit(uow: UnitOfWork, user_id: UUID, slots: int | None, policy: Policy, *, actor: str) -> Account:
    """Give one user a slot limit of their own, or with None that of their tier; it applies immediately to waiting jobs.

    Locks: the users row, then the messages that it wakes.  Raises: InvalidInput, NotFound.
    """
    if slots is not None:
        _check(slots)
    with uow.begin() as tx:
        before = users.lock(tx, user_id)
        if before is None:
            raise NotFound("No such user")
        users.set_slot_limit(tx, user_id, slots)
        audit_log.add(tx, actor, "user.limit", str(user_id), before=before.own_slot_limit, after=slots)
        after = users.find(tx, user_id) or before
        wake_jobs.fill(tx, after, policy.fairness)
        return after


def release_held(uow: UnitOfWork, policy: Policy) -> int:
    """Make all jobs that wait for a slot ready, if no limit holds jobs back any more.  Returns: their number.

    Locks: one users row at a time, then the messages that it wakes.
    """
    if policy.fairness.holds_back:
        return 0
    with uow.begin() as tx:
        waiting = users.all_waiting(tx)
    return sum(_released(uow, user_id, service) for user_id in waiting for service in Service)


def _released(uow: UnitOfWork, user_id: UUID, service: Service) -> int:
    released = 0
    while True:
        with uow.begin() as tx:
            account = users.lock(tx, user_id)
            woken = wake_jobs.release(tx, account, service) if account else 0
        released += woken
        if woken < wake_jobs.RELEASED_AT_ONCE:
            return released


def _tier_limit(plan: Plan, policy: Policy) -> TierLimit:
    by_setting = plan.tier in policy.fairness.slot_limits
    return TierLimit(plan.tier, policy.fairness.slot_limit(plan), plan.slot_limit, by_setting)


def _check(slots: int) -> None:
    if not 1 <= slots <= HIGHEST_SLOT_LIMIT:
        allowed = f"expected 1 to {HIGHEST_SLOT_LIMIT:,} jobs at once"
        raise InvalidInput(
            Message(
                "%(slots)s jobs at once: expected 1 to %(highest)s jobs at once",
                slots=slots,
                highest=f"{HIGHEST_SLOT_LIMIT:,}",
            ),
            errors=[{"pointer": "/limit", "detail": allowed}],
        )
