"""How many jobs a user may run at once, and how long a job over the limit sleeps (docs/adr/0004)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from app.domain.plans import Plan, Tier

#: Relative shares of a queue, by tier, for users who have enough jobs waiting.
WEIGHTS: Mapping[Tier, float] = {Tier.FREE: 1, Tier.PRO: 1, Tier.PRO_PLUS: 2, Tier.ENTERPRISE: 3}
#: By how many of the broker's ranks one second of a user of weight 1 moves them back in the queue.
STEP_OF_A_SECOND = 100
#: Assumed for a user's first job, before any run is known.
FIRST_RUN_SECONDS = 1.0
_STEPS = (1, 100_000)


class FairnessMode(StrEnum):
    """How strictly limits are applied."""

    ENFORCE = "enforce"  #: over the limit: snooze
    SHADOW = "shadow"  #: evaluate and record, never snooze
    OFF = "off"  #: no limit at all


@dataclass(frozen=True, slots=True)
class FairnessPolicy:
    """The limits on concurrent jobs, and how they are enforced.

    slot_limits: from FAIRNESS_*_LIMIT, by tier; they take precedence over the plan, and a user's own over both.
    """

    mode: FairnessMode = FairnessMode.ENFORCE
    slot_limits: Mapping[Tier, int] = field(default_factory=dict)
    snooze: timedelta = timedelta(seconds=30)
    jitter: timedelta = timedelta(seconds=10)

    def slot_limit(self, plan: Plan, own: int | None = None) -> int:
        """How many jobs of each service a user of this plan may run at once.  own: the user's own limit."""
        return self.slot_limits.get(plan.tier, plan.slot_limit) if own is None else own

    def most_ready(self, plan: Plan, own: int | None = None) -> int | None:
        """How many of a user's jobs are ready for the workers at once; the others wait where they cost nothing.

        This is one more than the slot limit.  The workers enforce the limit itself, with the user's current tier.
        """
        return self.slot_limit(plan, own) + 1 if self.holds_back else None

    @property
    def holds_back(self) -> bool:
        """Whether a job over the limit waits.  If not, jobs that an earlier setting parked must not stay parked."""
        return self.mode is FairnessMode.ENFORCE

    def snooze_delay(self, roll: float) -> timedelta:
        """30 s plus up to 10 s, so that not all jobs wake at once.  roll: 0 <= roll < 1, drawn by the caller."""
        return self.snooze + self.jitter * roll


def step(tier: Tier, run_seconds: float | None) -> int:
    """How far a job moves its user back in the queue, in ranks: its typical seconds of a slot by the tier's weight.

    Seconds count, not jobs.  Otherwise a user whose repositories take ten minutes would get six hundred times as
    much of the machine as one whose repositories take a second.
    """
    seconds = FIRST_RUN_SECONDS if run_seconds is None else run_seconds
    least, most = _STEPS
    return min(most, max(least, round(STEP_OF_A_SECOND * seconds / WEIGHTS[tier])))
