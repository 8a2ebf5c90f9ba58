"""Tiers and the plans sold under them (docs/adr/0003, docs/adr/0005)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tier(StrEnum):
    """The tier of a subscription; the value is the PostgreSQL enum `plan_tier`."""

    FREE = "free"
    PRO = "pro"
    PRO_PLUS = "pro_plus"
    ENTERPRISE = "enterprise"


#: Tiers whose jobs go to the `_priority` queues.
PAID = frozenset({Tier.PRO, Tier.PRO_PLUS, Tier.ENTERPRISE})


class EventType(StrEnum):
    """The kind of billed units; the value is the PostgreSQL enum `usage_event_type`."""

    ANALYSIS = "analysis"  #: unit: one completed analysis
    SPECVIEW = "specview"  #: unit: one sentence of a specification


@dataclass(frozen=True, slots=True)
class Plan:
    """A row of `subscription_plans`.  None = unlimited (or kept for ever)."""

    tier: Tier
    slot_limit: int
    analyses_per_period: int | None
    spec_units_per_period: int | None
    retention_days: int | None

    def limit(self, event_type: EventType) -> int | None:
        """Units of `event_type` per period; None = unlimited."""
        return self.analyses_per_period if event_type is EventType.ANALYSIS else self.spec_units_per_period


#: The rows that the migration seeds; a contract test compares the two.
SOLD_PLANS = (
    Plan(Tier.FREE, 1, 50, 2_500, 30),
    Plan(Tier.PRO, 3, 1_000, 50_000, 180),
    Plan(Tier.PRO_PLUS, 3, 5_000, 250_000, 365),
    Plan(Tier.ENTERPRISE, 5, None, None, None),
)
