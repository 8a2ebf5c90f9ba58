"""How many jobs may run at once: changed by an operator while everything runs (docs/adr/0027)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from app.domain.plans import Plan, Tier
from app.domain.queues import Service
from app.errors import Conflict, InvalidInput, NotFound
from app.services.fairness import wake_jobs
from app.services.policy import Policy
from app.store import audit_log, plans, users
from app.store.unit_of_work import UnitOfWork
from app.store.users import Account

MOST_SLOTS = 1_000


@dataclass(frozen=True, slots=True)
class TierLimit:
    """slots: in force; of_plan: what the plan's row says; by_setting: whether FAIRNESS_*_LIMIT decides instead."""

    tier: Tier
    slots: int
    of_plan: int
    by_setting: bool


def tier_limits(uow: UnitOfWork, policy: Policy) -> list[TierLimit]:
    """Of every tier, the smallest first."""
    with uow.begin() as tx:
        return [_told(plan, policy) for plan in plans.every(tx)]


def change_tier_limit(uow: UnitOfWork, tier: Tier, slots: int, policy: Policy, *, actor: str) -> TierLimit:
    """Let users of a tier run so many jobs of each service at once; who waits feels it at once.

    A lower one lets running jobs finish.  Locks: the plan's row; then users of the tier who wait, one after the other.
    Raises: InvalidInput; Conflict where a setting decides.
    """
    _check(slots)
    if tier in policy.fairness.overrides:
        raise Conflict(
            f"FAIRNESS_{tier.upper()}_LIMIT={policy.fairness.overrides[tier]} decides for this tier: change it there, "
            "or take it away and restart"
        )
    with uow.begin() as tx:
        before = plans.lock(tx, tier)
        plans.set_slots(tx, tier, slots)
        audit_log.add(tx, actor, "plan.limit", tier.value, before=before.concurrent_jobs, after=slots)
        waiting = users.waiting_of(tx, tier) if slots > before.concurrent_jobs else []
    for user_id in waiting:  # each in its own transaction: a start of theirs must not stand still for all of them
        with uow.begin() as tx:
            if account := users.lock(tx, user_id):
                wake_jobs.fill(tx, account, policy.fairness)
    return _told(replace(before, concurrent_jobs=slots), policy)


def change_user_limit(uow: UnitOfWork, user_id: UUID, slots: int | None, policy: Policy, *, actor: str) -> Account:
    """Give one user a limit of their own, or None: that of their tier again; their waiting jobs feel it at once.

    Locks: the users row, then the messages it wakes.  Raises: InvalidInput, NotFound.
    """
    if slots is not None:
        _check(slots)
    with uow.begin() as tx:
        before = users.lock(tx, user_id)
        if before is None:
            raise NotFound("No such user")
        users.set_limit(tx, user_id, slots)
        audit_log.add(tx, actor, "user.limit", str(user_id), before=before.slot_limit, after=slots)
        after = users.find(tx, user_id) or before
        wake_jobs.fill(tx, after, policy.fairness)
        return after


def release_held(uow: UnitOfWork, policy: Policy) -> int:
    """Where limits do not hold jobs back (any more), make ready whatever waits for a slot; how many jobs that were.

    Locks: one users row at a time, then the messages it wakes.
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


def _told(plan: Plan, policy: Policy) -> TierLimit:
    by_setting = plan.tier in policy.fairness.overrides
    return TierLimit(plan.tier, policy.fairness.slots(plan), plan.concurrent_jobs, by_setting)


def _check(slots: int) -> None:
    if not 1 <= slots <= MOST_SLOTS:
        allowed = f"allowed are 1 to {MOST_SLOTS:,} jobs at once"
        raise InvalidInput(f"{slots} jobs at once: {allowed}", errors=[{"pointer": "/limit", "detail": allowed}])
