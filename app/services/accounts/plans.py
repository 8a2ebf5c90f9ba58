"""The plans as users see them, and as operators change them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from app.domain.plans import PAID, Plan, Tier
from app.errors import InvalidInput, Message
from app.services.policy import Policy
from app.store.accounts import plans
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import audit_log

#: The least of each member of a plan that operators change; PostgreSQL's integer ends the range.
LEAST = {"analyses_per_period": 0, "spec_units_per_period": 0, "retention_days": 1}
MOST = 2_147_483_647


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


def plan_of(uow: UnitOfWork, tier: Tier) -> Plan:
    """The plan of a tier."""
    with uow.begin() as tx:
        return next(plan for plan in plans.every(tx) if plan.tier is tier)


def change_quota(uow: UnitOfWork, tier: Tier, changes: Mapping[str, int | None], *, actor: str) -> Plan:
    """Change the units and days of a plan; the next accept is judged by them, and running jobs are billed as accepted.

    changes: members of LEAST; None: no limit, or for ever.  Histories keep the days that they were made with.
    Locks: the plan's row.  Raises: InvalidInput.
    """
    for name, value in changes.items():
        if value is not None and not LEAST[name] <= value <= MOST:
            detail = Message("expected %(least)s to %(most)s, or no limit", least=LEAST[name], most=MOST)
            said = Message("%(name)s cannot be %(value)s; %(detail)s", name=name, value=value, detail=detail)
            raise InvalidInput(said, errors=[{"pointer": f"/{name}", "detail": detail}])
    with uow.begin() as tx:
        before = plans.lock(tx, tier)
        after = replace(before, **cast(Any, changes))  # members of LEAST, which are checked
        if after != before:
            plans.set_quota(tx, after)
            changed = {name: [asdict(before)[name], asdict(after)[name]] for name in changes}
            audit_log.add(tx, actor, "plan.quota", tier.value, changed=changed)
    return after
