"""Units of quota as JSON."""

from __future__ import annotations

from typing import Any

from app.domain.quota import Usage
from app.services.accounts.usage import AskedUnits, PeriodUsage
from app.services.specifications.submit_specification import Price


def usage_json(found: PeriodUsage) -> dict[str, Any]:
    """The period and each kind of units."""
    return {
        "tier": found.tier.value,
        "period_start": found.period.start.isoformat(),
        "resets_at": found.period.end.isoformat(),
        **{event_type.value: _units(units) for event_type, units in found.units.items()},
    }


def asked_units_json(answer: AskedUnits) -> dict[str, Any]:
    """Whether this many units would be accepted."""
    return {
        "event_type": answer.event_type.value,
        "amount": answer.amount,
        "allowed": answer.fits,
        "used": answer.usage.used,
        "reserved": answer.usage.reserved,
        "limit": answer.usage.limit,
        "resets_at": answer.period.end.isoformat(),
    }


def price_json(price: Price) -> dict[str, Any]:
    """The price of a specification, which reserves nothing."""
    counted = {"tests": price.tests, "subtests": price.subtests, "units": price.units.amount}
    return {"dry_run": True, **counted, **asked_units_json(price.units)}


def _units(units: Usage) -> dict[str, Any]:
    return {
        "used": units.used,
        "reserved": units.reserved,
        "limit": units.limit,
        "free": units.free,
        "level": units.level,
    }
