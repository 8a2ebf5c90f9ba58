"""The plans as users see them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.domain.plans import PAID, Plan
from app.services.policy import Policy
from app.store.accounts import plans
from app.store.core.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class OfferedPlan:
    """A plan with the number of jobs that its users may run now.  is_preferred: its jobs go to the priority queues."""

    plan: Plan
    is_preferred: bool


def offered(uow: UnitOfWork, policy: Policy) -> list[OfferedPlan]:
    """Every plan, the smallest first.  A limit that a setting determines takes precedence over the plan's row."""
    with uow.begin() as tx:
        rows = plans.every(tx)
    return [OfferedPlan(replace(plan, slot_limit=policy.fairness.slot_limit(plan)), plan.tier in PAID) for plan in rows]
