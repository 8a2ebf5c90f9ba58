"""Units of quota as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.services.accounts.usage import PeriodUsage
from app.services.specifications.submit_specification import Price


def usage_json(found: PeriodUsage) -> dict[str, Any]:
    """The period and each kind of units."""
    return {
        "tier": found.tier.value,
        "period_start": found.period.start,
        "resets_at": found.period.end,
        **{event_type.value: units for event_type, units in found.units.items()},
    }


def price_json(price: Price) -> dict[str, Any]:
    """The price of a specification, which reserves nothing."""
    counted = {"tests": price.tests, "subtests": price.subtests, "units": price.units.amount}
    return {"dry_run": True, **counted, **asdict(price.units), "resets_at": price.units.resets_at.isoformat()}
