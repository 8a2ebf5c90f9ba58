"""Token buckets of this process, for reads: a flood of requests must not become a flood of statements."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from app.errors import Message, TooManyRequests

MOST_KEYS = 10_000  # about 2 MB; the least recently used ones are dropped, and are then full again


@dataclass
class Buckets:
    """One bucket of `per_minute` for each key.  clock: monotonic seconds."""

    per_minute: int
    clock: Callable[[], float] = time.monotonic
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)  # tokens, and time
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, key: str, cost: int = 1) -> int:
        """Take `cost`; a full bucket grants any cost, as a debt.

        Returns: whole tokens that are left, negative in debt.  Raises: TooManyRequests, and takes nothing.
        """
        with self._lock:
            now = self.clock()
            level, since = self._levels.pop(key, (float(self.per_minute), now))
            level = min(float(self.per_minute), level + (now - since) * self.per_minute / 60)
            # the request itself was counted before its cost was known, so a full bucket may lack one token
            missing = min(cost, max(1, self.per_minute - 1)) - level
            self._levels[key] = (level if missing > 0 else level - cost, now)
            while len(self._levels) > MOST_KEYS:
                self._levels.popitem(last=False)
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
        return math.floor(level - cost)
