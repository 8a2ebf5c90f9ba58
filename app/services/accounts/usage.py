"""A user's used, reserved and free units in this period."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from app.domain.plans import EventType
from app.store import quota
from app.store.unit_of_work import UnitOfWork
from app.store.users import Account


def usage(uow: UnitOfWork, account: Account, *, now: datetime) -> dict[str, Any]:
    """Per event type: used, reserved, limit (null = unlimited), free, level; and the period."""
    period = account.period(now)
    with uow.begin() as tx:
        sums = {e: quota.usage(tx, account.user_id, e, period, account.plan.limit(e)) for e in EventType}
    meters = {
        event_type.value: {
            "used": u.used,
            "reserved": u.reserved,
            "limit": u.limit,
            "free": u.free,
            "level": u.level,
        }
        for event_type, u in sums.items()
    }
    return {
        "tier": account.tier.value,
        "period_start": period.start.isoformat(),
        "resets_at": period.end.isoformat(),
        **meters,
    }


def check(uow: UnitOfWork, account: Account, event_type: EventType, amount: int, *, now: datetime) -> dict[str, Any]:
    """Whether `amount` further units would be accepted now; reserves nothing."""
    period = account.period(now)
    with uow.begin() as tx:
        u = quota.usage(tx, account.user_id, event_type, period, account.plan.limit(event_type))
    return {
        "event_type": event_type.value,
        "amount": amount,
        "allowed": u.admits(amount),
        "used": u.used,
        "reserved": u.reserved,
        "limit": u.limit,
        "resets_at": period.end.isoformat(),
    }


def reservations(uow: UnitOfWork, account: Account) -> list[dict[str, Any]]:
    """Reserved units, each with its job; oldest first."""
    with uow.begin() as tx:
        return quota.reservations_of(tx, account.user_id)
