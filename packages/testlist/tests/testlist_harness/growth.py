"""How the processor's time of some work grows with its size, on a machine where others work as well."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

ROUNDS = 5
#: What is quicker than this is not compared: a clock's own step, and a first call's.
LEAST_SECONDS = 0.02


def growth(
    work: Callable[[Any], object], small: int, large: int, *, allowed: float, prepare: Callable[[int], Any] = int
) -> float:
    """How many times the time of the small size the large one takes.

    Others who use the processor's caches can make a round slower and never quicker, so the quickest of up to 5 rounds
    counts for each size.  allowed: no further round is needed below this; prepare: makes what is worked on, untimed.
    """
    quickest = dict.fromkeys((small, large), float("inf"))
    for _ in range(ROUNDS):
        for size, before in quickest.items():
            prepared = prepare(size)
            begun = time.process_time()
            work(prepared)
            quickest[size] = min(before, max(LEAST_SECONDS, time.process_time() - begun))
        if quickest[large] <= allowed * quickest[small]:
            break
    return quickest[large] / quickest[small]
