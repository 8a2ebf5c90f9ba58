"""The plans as rows, which operators change."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from sqlalchemy import text

from app.domain.plans import Plan, Tier
from app.store.core.unit_of_work import Tx

COLUMNS = "tier, concurrent_jobs, analyses_per_period, spec_units_per_period, retention_days"
_ALL = text(f"SELECT {COLUMNS} FROM subscription_plans ORDER BY tier")
_FIND = text(f"SELECT {COLUMNS} FROM subscription_plans WHERE tier = CAST(:tier AS plan_tier)")
_LOCK = text(f"SELECT {COLUMNS} FROM subscription_plans WHERE tier = CAST(:tier AS plan_tier) FOR UPDATE")
_SET_SLOT_LIMIT = text("UPDATE subscription_plans SET concurrent_jobs = :slots WHERE tier = CAST(:tier AS plan_tier)")

_SET_QUOTA = text("""
    UPDATE subscription_plans
       SET analyses_per_period = :analyses, spec_units_per_period = :spec_units, retention_days = :retention_days
     WHERE tier = CAST(:tier AS plan_tier)""")


class PlanColumns(Protocol):
    """The columns that describe a plan."""

    @property
    def tier(self) -> str:
        """The plan's name."""

    @property
    def concurrent_jobs(self) -> int:
        """Slots of each service."""

    @property
    def analyses_per_period(self) -> int | None:
        """The limit of analyses in a period; None: no limit."""

    @property
    def spec_units_per_period(self) -> int | None:
        """The limit of specification units in a period; None: no limit."""

    @property
    def retention_days(self) -> int | None:
        """How long results are kept; None: for ever."""


class PlanRow(NamedTuple):
    """A plan."""

    tier: str
    concurrent_jobs: int
    analyses_per_period: int | None
    spec_units_per_period: int | None
    retention_days: int | None


def every(tx: Tx) -> list[Plan]:
    """The current plans, the smallest first."""
    return [plan_of(row) for row in tx.run(_ALL).values(PlanRow)]


def find(tx: Tx, tier: Tier) -> Plan:
    """Read a plan."""
    return plan_of(tx.run(_FIND, tier=tier.value).value(PlanRow))


def lock(tx: Tx, tier: Tier) -> Plan:
    """Lock and read a plan.  Locks: its row."""
    return plan_of(tx.run(_LOCK, tier=tier.value).value(PlanRow))


def set_slot_limit(tx: Tx, tier: Tier, slots: int) -> None:
    """Let users of the tier run up to `slots` jobs of each service at once.  The caller has locked the row."""
    tx.write(_SET_SLOT_LIMIT, tier=tier.value, slots=slots)


def set_quota(tx: Tx, plan: Plan) -> None:
    """Write the units and the days of a plan.  The caller has locked the row."""
    tx.write(
        _SET_QUOTA,
        tier=plan.tier.value,
        analyses=plan.analyses_per_period,
        spec_units=plan.spec_units_per_period,
        retention_days=plan.retention_days,
    )


def plan_of(row: PlanColumns) -> Plan:
    """Read a plan from a row that has its columns among others."""
    return Plan(
        Tier(row.tier),
        row.concurrent_jobs,
        row.analyses_per_period,
        row.spec_units_per_period,
        row.retention_days,
    )
