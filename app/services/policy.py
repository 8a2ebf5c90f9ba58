"""What the operator decided: the settings that use cases need, handed to them as one value."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from app.domain.fairness import FairnessPolicy
from app.services.experience import Experience
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Policy:
    """parser_version: of the engine that this release runs; lease_seconds: of a slot between two heartbeats.

    experience: what a serving process learns of waits; None: estimates know nothing of it.
    """

    parser_version: str
    fairness: FairnessPolicy = field(default_factory=FairnessPolicy)
    quota_mode: str = "enforce"
    reservation_ttl: timedelta = timedelta(hours=1)
    lease_seconds: float = 15
    experience: Experience | None = field(default=None, compare=False)

    @classmethod
    def of(cls, settings: Settings, parser_version: str) -> Policy:
        """The policy in force."""
        return cls(
            parser_version,
            settings.fairness,
            settings.quota_mode,
            settings.reservation_ttl,
            settings.lease_seconds,
            Experience(),
        )
