"""Billing periods: computed from the subscription's anchor, never stored (docs/adr/0005)."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Period:
    """Half-open in UTC: start <= instant < end."""

    start: datetime
    end: datetime

    def __contains__(self, instant: datetime) -> bool:
        return self.start <= instant < self.end


def months_after(anchor: datetime, months: int) -> datetime:
    """The anchor `months` later, clamped to the last day of a shorter month."""
    index = anchor.year * 12 + anchor.month - 1 + months
    year, month = divmod(index, 12)
    day = min(anchor.day, monthrange(year, month + 1)[1])
    return anchor.replace(year=year, month=month + 1, day=day)


def period_at(anchor: datetime, now: datetime) -> Period:
    """The rolling period that contains `now`.  Both instants are aware; before the anchor, periods run backwards."""
    anchor, now = anchor.astimezone(UTC), now.astimezone(UTC)
    k = (now.year - anchor.year) * 12 + now.month - anchor.month
    # each bound is computed from the anchor itself, so a clamped February does not shorten March
    if months_after(anchor, k) > now:
        k -= 1
    return Period(months_after(anchor, k), months_after(anchor, k + 1))
