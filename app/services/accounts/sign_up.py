"""The steps that all ways of creating one's own account share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from app.domain.plans import Tier
from app.errors import Conflict, Message, TooManyRequests
from app.services.accounts import accounts as people
from app.store.accounts import sign_ups
from app.store.core.unit_of_work import Tx

PER_ADDRESS = 3  # sign-ups per minute of one client's address
#: One network, which is an IPv4 address or an IPv6 /48, may use this part of a day's sign-ups, and one in any case.
SHARE = 10
TAKEN = Message(
    "This address cannot get a new account. If it is yours, sign in, or ask the operator for a sign-in link."
)


def new_account(
    tx: Tx, email: str, *, tier: Tier, per_day: int, network: UUID, user_id: UUID | None = None, now: datetime
) -> UUID:
    """Add a person with a checked address, if the day and the share of the network have a sign-up left.

    Locks: the network's and the day's row until the commit.  Raises: TooManyRequests, Conflict.
    """
    if not sign_ups.count_of(tx, network, most=max(1, per_day // SHARE), now=now):
        raise TooManyRequests(
            "No more accounts can be created from your network today; try again tomorrow.",
            retry_after=_seconds_left(now),
        )
    if not sign_ups.count(tx, most=per_day, now=now):
        raise TooManyRequests(
            "No more accounts can be created today; try again tomorrow.", retry_after=_seconds_left(now)
        )
    made = people.new_person(tx, email, tier=tier, actor="sign-up", user_id=user_id, now=now)
    if made is None:
        raise Conflict(TAKEN)
    return made


def _seconds_left(now: datetime) -> int:
    """Seconds until the UTC day ends."""
    utc = now.astimezone(UTC)
    tomorrow = utc.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return int((tomorrow - utc).total_seconds()) + 1
