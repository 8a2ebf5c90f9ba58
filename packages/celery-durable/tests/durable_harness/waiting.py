"""How tests wait for other processes: by polling for the condition itself, never for a length of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

#: Long enough for a machine at a tenth of its speed; a wait that succeeds never takes as long.
PATIENCE_SECONDS = 60.0

Value = TypeVar("Value")


def wait_for(
    condition: Callable[[], Value], what: str = "its condition", *, seconds: float = PATIENCE_SECONDS
) -> Value:
    """Poll until the condition is true and return its value.

    Raises AssertionError, with what was waited for, after this many seconds.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:g} s in vain for {what}")
        time.sleep(0.02)  # between two polls; never instead of one
    return value
