"""List for an operator the users who have work now, and how much of it waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping

from app.domain.plans import Plan
from app.domain.queues import Service
from app.services.policy import Policy
from app.store import waits
from app.store.unit_of_work import UnitOfWork

#: How many users one list has.
MOST_USERS = 100


def tenants(uow: UnitOfWork, policy: Policy, *, most: int = MOST_USERS) -> list[dict[str, Any]]:
    """Users who have work now, those with the most waiting jobs first; limit: of their tier, or their own."""
    with uow.begin() as tx:
        rows = waits.tenants(tx, most=most)
    return _tenants(rows, policy)


def tenants_of(uow: UnitOfWork, policy: Policy, user_id: UUID) -> list[dict[str, Any]]:
    """As tenants, for one user: one row for each service in which they have work."""
    with uow.begin() as tx:
        rows = waits.tenants(tx, most=len(Service), user_id=user_id)
    return _tenants(rows, policy)


def _tenants(rows: Sequence[tuple[Plan, RowMapping]], policy: Policy) -> list[dict[str, Any]]:
    left_out = ("concurrent_jobs", "analyses_per_period", "spec_units_per_period", "retention_days", "slot_limit")
    return [
        {name: value for name, value in row.items() if name not in left_out}
        | {"limit": policy.fairness.slot_limit(plan, row["slot_limit"])}
        for plan, row in rows
    ]
