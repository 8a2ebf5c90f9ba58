"""List for an operator the users who have work now, and how much of it waits."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.domain.plans import Plan
from app.domain.queues import Service
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork
from app.store.fairness import waits
from app.store.fairness.waits import TenantRow

#: How many users one list has.
MOST_USERS = 100


@dataclass(frozen=True, slots=True)
class Tenant:
    """A user who has work of a service now.

    limit: of their tier, or their own; held: parked, snoozed or delayed; oldest_seconds: of the ready; run_seconds: how
    long jobs took recently.  Above 10,000 waiting jobs in a queue, the numbers are estimates.
    """

    user_id: UUID
    email: str | None
    tier: str
    service: str
    limit: int
    running: int
    ready: int
    held: int
    oldest_seconds: float
    run_seconds: float | None


def tenants(uow: UnitOfWork, policy: Policy, *, most: int = MOST_USERS) -> list[Tenant]:
    """Users who have work now, those with the most waiting jobs first."""
    with uow.begin() as tx:
        rows = waits.tenants(tx, most=most)
    return [_tenant(plan, row, policy) for plan, row in rows]


def tenants_of(uow: UnitOfWork, policy: Policy, user_id: UUID) -> list[Tenant]:
    """One user's waiting and running work: one for each service in which they have work."""
    with uow.begin() as tx:
        rows = waits.tenants(tx, most=len(Service), user_id=user_id)
    return [_tenant(plan, row, policy) for plan, row in rows]


def _tenant(plan: Plan, row: TenantRow, policy: Policy) -> Tenant:
    limit = policy.fairness.slot_limit(plan, row.slot_limit)
    running, waiting = row.running, (row.ready, row.held, row.oldest_seconds)
    return Tenant(row.user_id, row.email, row.tier, row.service, limit, running, *waiting, row.run_seconds)
