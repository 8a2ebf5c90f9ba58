"""Check a user's quota and reserve units, under the lock on the user's row (docs/adr/0005)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from app.domain.jobs import EventFacts
from app.domain.plans import EventType
from app.domain.quota import Usage
from app.errors import Message, QuotaExceeded
from app.services.policy import Policy
from app.store.accounts.users import Payer
from app.store.core.unit_of_work import Tx
from app.store.jobs import events, quota
from app.store.jobs.quota import Sums


def check(
    tx: Tx,
    account: Payer,
    event_type: EventType,
    policy: Policy,
    *,
    units: int,
    sums: Sums | None = None,
    now: datetime,
) -> Usage:
    """Check that the units are free, and return what was used and reserved before.  Without a limit, sum nothing.

    sums: read after the caller had locked the user's row, as it has; sums of another period are read again.
    Raises: QuotaExceeded, in the mode `enforce`.
    """
    usage = used(tx, account, event_type, policy, sums=sums, now=now)
    judge(usage, account, policy, units=units, now=now)
    return usage


def used(
    tx: Tx, account: Payer, event_type: EventType, policy: Policy, *, sums: Sums | None = None, now: datetime
) -> Usage:
    """Return the usage without checking the limit; the caller checks it."""
    limit = account.plan.limit(event_type)
    if policy.quota_mode == "off" or limit is None:
        return Usage(0, 0, None)
    period = account.period(now)
    if sums and sums.period == period:
        return Usage(sums.used, sums.reserved, limit)
    return quota.usage(tx, account.user_id, event_type, period, limit)


def judge(usage: Usage, account: Payer, policy: Policy, *, units: int, now: datetime) -> None:
    """Refuse units that are not free, in the mode `enforce`.  Raises: QuotaExceeded."""
    if policy.quota_mode == "enforce" and not usage.admits(units):
        raise QuotaExceeded(
            _refusal(usage, units, account.period(now).end),
            used=usage.used,
            reserved=usage.reserved,
            limit=usage.limit,
            resets_at=account.period(now).end,
        )


def _refusal(usage: Usage, units: int, ends_at: datetime) -> Message:
    """The message with the usage, and with what the user can do.  ends_at: of the period, in UTC."""
    sums = {"used": usage.used, "reserved": usage.reserved, "limit": usage.limit, "end": f"{ends_at:%Y-%m-%d %H:%M}"}
    if usage.limit is None or usage.used + units > usage.limit:
        return Message(
            "You have used %(used)s of %(limit)s units this period, with %(reserved)s more reserved by unfinished jobs."
            " The next period begins %(end)s UTC, with new units.",
            **sums,
        )
    return Message(
        "You have used %(used)s of %(limit)s units this period, with %(reserved)s more reserved by unfinished jobs."
        " Wait until one of these ends, or cancel one to get its units back.",
        **sums,
    )


def reserve(
    tx: Tx,
    account: Payer,
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
    return reserve_each(tx, account, event_type, {job_id: seen}, policy, units=units, now=now)[job_id]


def reserve_each(
    tx: Tx,
    account: Payer,
    event_type: EventType,
    seen: Mapping[UUID, Usage],
    policy: Policy,
    *,
    units: int,
    now: datetime,
) -> dict[UUID, EventFacts]:
    """Reserve units for many jobs, like `reserve`.  seen: by job, what was used and reserved before it."""
    if policy.quota_mode == "off" or not units:
        return {job_id: {"mode": policy.quota_mode, "units": 0} for job_id in seen}
    events.add_each(tx, "quota_shadow", {job_id: {} for job_id, usage in seen.items() if not usage.admits(units)})
    quota.reserve(
        tx,
        *seen,
        user_id=account.user_id,
        event_type=event_type,
        amount=units,
        now=now,
        ttl=policy.reservation_ttl,
    )
    same = {"mode": policy.quota_mode, "units": units}
    period = account.period(now).start
    return {
        job_id: {**same, "used": of.used, "reserved": of.reserved, "limit": of.limit, "at": now, "period": period}
        for job_id, of in seen.items()
    }
