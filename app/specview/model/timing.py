"""The clock, the sleep and the random numbers of a run; tests pass their own."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

#: The first pause after a failure, doubled each time, and the longest one.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0


@dataclass(frozen=True, slots=True)
class Timing:
    """How a run measures time and waits.

    now: seconds of a clock that only goes forward; sleep: seconds; roll: from 0 to 1.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    roll: Callable[[], float] = random.random

    def pause(self, failures: int, floor: float = 0) -> float:
        """Seconds after the n-th failure: between half and all of its step, and no less than the endpoint asked for."""
        step = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** (failures - 1))
        jittered = step * (0.5 + self.roll() / 2)
        return floor + jittered if floor else jittered
