"""Token buckets for reads, in the memory of one host: a flood of requests must not become a flood of statements."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.errors import Message, TooManyRequests
from app.shared_table import Numbers, SharedTable

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


@dataclass
class Buckets:
    """One bucket of `per_minute` for each key.  clock: monotonic seconds, the same in all processes of a host.

    table: tokens, and the time when they were counted; the least recently used buckets are dropped, and are then full
    again.
    """

    per_minute: int
    clock: Callable[[], float] = time.monotonic
    table: SharedTable = field(default_factory=SharedTable)

    def take(self, key: str, cost: int = 1) -> int:
        """Take `cost`; a full bucket grants any cost, as a debt.

        Returns: whole tokens that are left, negative in debt.  Raises: TooManyRequests, and takes nothing.
        """
        with self.table.row(key) as row:
            now = self.clock()
            level = self._level(row.numbers, now)
            # the request itself was counted before its cost was known, so a full bucket may lack one token
            missing = min(cost, max(1, self.per_minute - 1)) - level
            row.numbers = (level if missing > 0 else level - cost, now)
        self._refuse(missing)
        return math.floor(level - cost)

    def require(self, key: str) -> None:
        """Take nothing.  Raises: TooManyRequests if the bucket is empty."""
        with self.table.row(key) as row:
            missing = 1 - self._level(row.numbers, self.clock())
        self._refuse(missing)

    def _level(self, numbers: Numbers | None, now: float) -> float:
        level, since = numbers or (float(self.per_minute), now)
        return min(float(self.per_minute), level + (now - since) * self.per_minute / 60)

    def _refuse(self, missing: float) -> None:
        if missing > 0:
            seconds = math.ceil(missing * 60 / self.per_minute)
            raise TooManyRequests(
                Message(
                    "More than %(per_minute)s reads per minute, where a large read counts as several; try again in"
                    " %(seconds)s s.",
                    per_minute=self.per_minute,
                    seconds=seconds,
                ),
                retry_after=seconds,
            )


GOOD, REFUSED = 1.0, 0.0


def is_known(buckets: Buckets, secret: str | None) -> bool:
    """Whether some process of this host found it good, and none refused it since."""
    if secret is None:
        return False
    with buckets.table.row(_key(secret)) as row:
        return row.numbers is not None and row.numbers[0] == GOOD


def carries_known(buckets: Buckets, environ: WSGIEnvironment) -> bool:
    """Whether a request, before it has a thread, carries a token that `is_known`."""
    return is_known(buckets, environ.get("HTTP_AUTHORIZATION", "").partition(" ")[2].strip() or None)


def found_good(buckets: Buckets, secret: str | None) -> None:
    """Note a token that was accepted."""
    if secret is not None:
        with buckets.table.row(_key(secret)) as row:
            row.numbers = (GOOD, buckets.clock())


def found_refused(buckets: Buckets, secret: str | None) -> None:
    """Note that a known token has ended; unknown ones take no row."""
    if secret is not None:
        with buckets.table.row(_key(secret)) as row:
            if row.numbers is not None:
                row.numbers = (REFUSED, buckets.clock())


def _key(secret: str) -> str:
    return f"token:{secret}"
