"""Check a user's quota and reserve units, under the lock on the user's row (docs/adr/0005)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.domain.jobs import EventFacts
from app.domain.plans import EventType
from app.domain.quota import Usage
from app.errors import QuotaExceeded
from app.services.policy import Policy
from app.store import events, quota
from app.store.quota import Sums
from app.store.unit_of_work import Tx, UnitOfWork
from app.store.users import Account


def ask(uow: UnitOfWork, account: Account, event_type: EventType, policy: Policy, *, now: datetime) -> None:
    """Refuse an account without a unit left before any work is done; reserves nothing.  Raises: QuotaExceeded."""
    if policy.quota_mode == "enforce" and account.plan.limit(event_type) is not None:
        with uow.begin() as tx:
            check(tx, account, event_type, policy, units=1, now=now)


def check(
    tx: Tx,
    account: Account,
    event_type: EventType,
    policy: Policy,
    *,
    units: int,
    sums: Sums | None = None,
    now: datetime,
) -> Usage:
    """The units that the user had used and reserved before these.  Without a quota limit nothing is summed up.

    sums: read after the caller had locked the user's row, as it has; sums of another period are read again.
    Raises: QuotaExceeded, in the mode `enforce`.
    """
    limit = account.plan.limit(event_type)
    if policy.quota_mode == "off" or limit is None:
        return Usage(0, 0, None)
    period = account.period(now)
    if sums and sums.period == period:
        usage = Usage(sums.used, sums.reserved, limit)
    else:
        usage = quota.usage(tx, account.user_id, event_type, period, limit)
    if policy.quota_mode == "enforce" and not usage.admits(units):
        raise QuotaExceeded(
            _refusal(usage, units),
            used=usage.used,
            reserved=usage.reserved,
            limit=limit,
            resets_at=period.end,
        )
    return usage


def _refusal(usage: Usage, units: int) -> str:
    """What is used or reserved, and what the user can do about it."""
    sums = f"{usage.used} used and {usage.reserved} reserved of {usage.limit} units in this period."
    if usage.limit is None or usage.used + units > usage.limit:
        return f"{sums} The next period has new units."
    return f"{sums} Jobs under way hold the remaining units. Wait until one ends, or cancel one to get its units back."


def reserve(
    tx: Tx,
    account: Account,
    event_type: EventType,
    job_id: UUID,
    seen: Usage,
    policy: Policy,
    *,
    units: int,
    now: datetime,
) -> EventFacts:
    """Reserve units for a job, unless quota is off.  seen: what `check` returned.

    Returns: what was seen and reserved, from which the audit can always judge this accept.
    """
    if policy.quota_mode == "off" or not units:
        return {"mode": policy.quota_mode, "units": 0}
    if not seen.admits(units):
        events.add(tx, job_id, "quota_shadow")
    quota.reserve(
        tx,
        user_id=account.user_id,
        event_type=event_type,
        amount=units,
        job_id=job_id,
        now=now,
        ttl=policy.reservation_ttl,
    )
    found = {"used": seen.used, "reserved": seen.reserved, "limit": seen.limit}
    return {"mode": policy.quota_mode, "units": units, **found, "at": now, "period": account.period(now).start}
