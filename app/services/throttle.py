"""Refuse who asks too often."""

from __future__ import annotations

import math

from app.errors import TooManyRequests
from app.store import rates
from app.store.unit_of_work import UnitOfWork


def throttle(uow: UnitOfWork, key: str, *, per_minute: int) -> None:
    """Take one request from the key's bucket, in a transaction of its own.  Raises: TooManyRequests."""
    with uow.begin() as tx:
        wait = rates.take(tx, key, per_minute=per_minute)
    if wait:
        seconds = math.ceil(wait)
        raise TooManyRequests(
            f"More than {per_minute} requests a minute; try again in {seconds} s.", retry_after=seconds
        )
