"""How many jobs of a user may run at once, and how long one over the limit sleeps (docs/adr/0004)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from app.domain.plans import Plan, Tier

#: Shares of a queue that users with enough waiting get, by tier.
WEIGHTS: Mapping[Tier, float] = {Tier.FREE: 1, Tier.PRO: 1, Tier.PRO_PLUS: 2, Tier.ENTERPRISE: 3}
#: How far one second of a user of weight 1 moves them back in the queue, in the broker's ranks.
STEP_OF_A_SECOND = 100
#: Of a user's first job nothing is known.
FIRST_RUN_SECONDS = 1.0
_STEPS = (1, 100_000)


class Mode(StrEnum):
    """How strictly limits are held."""

    ENFORCE = "enforce"  #: over the limit: snooze
    SHADOW = "shadow"  #: evaluate and record, never snooze
    OFF = "off"  #: no limit at all


@dataclass(frozen=True, slots=True)
class FairnessPolicy:
    """overrides: slots by tier, from FAIRNESS_*_LIMIT; they win over the plan's row, and a user's own over both."""

    mode: Mode = Mode.ENFORCE
    overrides: Mapping[Tier, int] = field(default_factory=dict)
    snooze: timedelta = timedelta(seconds=30)
    jitter: timedelta = timedelta(seconds=10)

    def slots(self, plan: Plan, own: int | None = None) -> int:
        """Concurrent jobs a user of this plan may run per service.  own: what an operator gave this user."""
        return self.overrides.get(plan.tier, plan.concurrent_jobs) if own is None else own

    def most_ready(self, plan: Plan, own: int | None = None) -> int | None:
        """How many jobs of a user are handed to the workers at once; the others wait where they cost nothing.

        One more than there are slots: the workers hold the limit, by the tier of that moment.
        """
        return self.slots(plan, own) + 1 if self.holds_back else None

    @property
    def holds_back(self) -> bool:
        """Whether a job over the limit waits.  Where not, nothing may stay parked that an earlier setting parked."""
        return self.mode is Mode.ENFORCE

    def snooze_delay(self, roll: float) -> timedelta:
        """30 s plus up to 10 s, so that a herd does not wake at once.  roll: 0 <= roll < 1, drawn by the caller."""
        return self.snooze + self.jitter * roll


def step(tier: Tier, run_seconds: float | None) -> int:
    """What a job takes of its user's share: the seconds such jobs held a slot, by the tier's weight; in ranks.

    Seconds and not jobs: who has repositories of ten minutes must not get six hundred times the machine of one whose
    repositories take a second.
    """
    seconds = FIRST_RUN_SECONDS if run_seconds is None else run_seconds
    least, most = _STEPS
    return min(most, max(least, round(STEP_OF_A_SECOND * seconds / WEIGHTS[tier])))
