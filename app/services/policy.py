"""The operator's decisions: the settings that use cases need, passed to them as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from app.domain.fairness import FairnessPolicy
from app.domain.queues import Service
from app.domain.specification import BUILT_IN, LANGUAGES
from app.settings import Settings
from app.store.fairness.observed_waits import ObservedWaits


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits and versions that apply to every use case.

    parser_version: of the engine in this release; generator: the name of the one that writes specifications.

    lease_seconds: of a slot between two heartbeats; languages: that the generator writes, by code; observed_waits: what
    a serving process learns from waits, None: estimates are not corrected.
    """

    parser_version: str
    fairness: FairnessPolicy = field(default_factory=FairnessPolicy)
    quota_mode: str = "enforce"
    reservation_ttl: timedelta = timedelta(hours=1)
    lease_seconds: float = 15
    generator: str = BUILT_IN
    languages: Mapping[str, str] = field(default_factory=lambda: LANGUAGES)
    observed_waits: ObservedWaits | None = field(default=None, compare=False)

    def maker(self, service: Service) -> str:
        """The version of the rules with which a service makes its records now."""
        return {Service.ANALYSIS: self.parser_version, Service.SPECVIEW: self.generator}[service]

    @classmethod
    def of(
        cls,
        settings: Settings,
        parser_version: str,
        generator: str = BUILT_IN,
        languages: Mapping[str, str] = LANGUAGES,
    ) -> Policy:
        """The policy in force."""
        return cls(
            parser_version,
            settings.fairness,
            settings.quota_mode,
            settings.reservation_ttl,
            settings.lease_seconds,
            generator,
            languages,
            ObservedWaits(),
        )
