"""How many jobs of a user may run at once, and how long one over the limit sleeps (docs/adr/0004)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from app.domain.plans import Plan, Tier


class Mode(StrEnum):
    """How strictly limits are held."""

    ENFORCE = "enforce"  #: over the limit: snooze
    SHADOW = "shadow"  #: evaluate and record, never snooze
    OFF = "off"  #: no limit at all


@dataclass(frozen=True, slots=True)
class FairnessPolicy:
    """overrides: slots by tier, from FAIRNESS_*_LIMIT; they win over the plan's row."""

    mode: Mode = Mode.ENFORCE
    overrides: Mapping[Tier, int] = field(default_factory=dict)
    snooze: timedelta = timedelta(seconds=30)
    jitter: timedelta = timedelta(seconds=10)

    def slots(self, plan: Plan) -> int:
        """Concurrent jobs a user of this plan may run per service."""
        return self.overrides.get(plan.tier, plan.concurrent_jobs)

    def snooze_delay(self, roll: float) -> timedelta:
        """30 s plus up to 10 s, so that a herd does not wake at once.  roll: 0 <= roll < 1, drawn by the caller."""
        return self.snooze + self.jitter * roll
