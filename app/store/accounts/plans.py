"""The plans as rows, which operators change."""

from __future__ import annotations

from sqlalchemy import RowMapping, text

from app.domain.plans import Plan, Tier
from app.store.core.unit_of_work import Tx

COLUMNS = "tier, concurrent_jobs, analyses_per_period, spec_units_per_period, retention_days"
_ALL = text(f"SELECT {COLUMNS} FROM subscription_plans ORDER BY tier")
_LOCK = text(f"SELECT {COLUMNS} FROM subscription_plans WHERE tier = CAST(:tier AS plan_tier) FOR UPDATE")
_SET_SLOT_LIMIT = text("UPDATE subscription_plans SET concurrent_jobs = :slots WHERE tier = CAST(:tier AS plan_tier)")


def every(tx: Tx) -> list[Plan]:
    """The current plans, the smallest first."""
    return [plan_of(row) for row in tx.run(_ALL).mappings()]


def lock(tx: Tx, tier: Tier) -> Plan:
    """Lock and read a plan.  Locks: its row."""
    return plan_of(tx.run(_LOCK, tier=tier.value).mappings().one())


def set_slot_limit(tx: Tx, tier: Tier, slots: int) -> None:
    """Let users of the tier run up to `slots` jobs of each service at once.  The caller has locked the row."""
    tx.write(_SET_SLOT_LIMIT, tier=tier.value, slots=slots)


def plan_of(row: RowMapping) -> Plan:
    """From a row with a plan's columns."""
    return Plan(
        Tier(row["tier"]),
        row["concurrent_jobs"],
        row["analyses_per_period"],
        row["spec_units_per_period"],
        row["retention_days"],
    )
