"""A user's used, reserved and free units in this period."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.domain.periods import Period
from app.domain.plans import EventType, Tier
from app.domain.quota import Usage
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.store.jobs import quota
from app.store.jobs.quota import Reservation


@dataclass(frozen=True, slots=True)
class PeriodUsage:
    """The units of one user in one period, by kind."""

    tier: Tier
    period: Period
    units: Mapping[EventType, Usage]


@dataclass(frozen=True, slots=True)
class AskedUnits:
    """A number of further units, compared with the used and reserved ones of the period that ends at `resets_at`."""

    event_type: EventType
    amount: int
    allowed: bool
    used: int
    reserved: int
    limit: int | None
    resets_at: datetime


def usage(uow: UnitOfWork, account: Account, *, now: datetime) -> PeriodUsage:
    """Usage of every kind of unit in the current period."""
    period = account.period(now)
    with uow.begin() as tx:
        sums = {e: quota.usage(tx, account.user_id, e, period, account.plan.limit(e)) for e in EventType}
    return PeriodUsage(account.tier, period, sums)


def check(uow: UnitOfWork, account: Account, event_type: EventType, amount: int, *, now: datetime) -> AskedUnits:
    """Whether `amount` further units would be accepted now; reserves nothing."""
    period = account.period(now)
    with uow.begin() as tx:
        sums = quota.usage(tx, account.user_id, event_type, period, account.plan.limit(event_type))
    return AskedUnits(event_type, amount, sums.admits(amount), sums.used, sums.reserved, sums.limit, period.end)


def reservations(uow: UnitOfWork, account: Account) -> list[Reservation]:
    """Reserved units, each with its job; oldest first."""
    with uow.once() as tx:
        return quota.reservations_of(tx, account.user_id)
