"""Refuse clients that write too often."""

from __future__ import annotations

import math
from uuid import UUID

from app.errors import Message, TooManyRequests
from app.store.accounts import rates
from app.store.core.unit_of_work import UnitOfWork


def throttle(uow: UnitOfWork, user_id: UUID, *, per_minute: int) -> int:
    """Take one write from the user's bucket, in a transaction of its own.

    Returns: how many are left.  Raises: TooManyRequests.
    """
    with uow.once() as tx:
        # the same bucket that counts the writes of a token when it is looked up (app/store/accounts/credentials.py)
        charged = rates.take(tx, f"write:{user_id}", per_minute=per_minute)
    refuse_early(charged.wait, per_minute=per_minute)
    return charged.remaining


def charge(uow: UnitOfWork, user_id: UUID, *, per_minute: int, cost: int) -> int:
    """Take further writes for a request that makes several.

    Returns: how many are left, negative in debt.  Raises: TooManyRequests.
    """
    with uow.once() as tx:
        charged = rates.spend(tx, f"write:{user_id}", per_minute=per_minute, cost=cost)
    refuse_early(charged.wait, per_minute=per_minute)
    return charged.remaining


def count(uow: UnitOfWork, key: str, per_minute: int) -> None:
    """Take one attempt from the bucket of this key, in a transaction of its own.  Raises: TooManyRequests."""
    with uow.once() as tx:
        charged = rates.take(tx, key, per_minute=per_minute)
    refuse_early(charged.wait, per_minute=per_minute)


def refuse_early(wait: float, *, per_minute: int) -> None:
    """Refuse a request for which there are seconds to wait.  Raises: TooManyRequests."""
    if wait:
        seconds = math.ceil(wait)
        raise TooManyRequests(
            Message(
                "More than %(per_minute)s requests per minute; try again in %(seconds)s s.",
                per_minute=per_minute,
                seconds=seconds,
            ),
            retry_after=seconds,
        )
