"""How a worker behaves while the database is unavailable: it waits longer each time, and gives its message back."""

import time
from contextlib import suppress
from random import random

from celery.exceptions import Reject, SoftTimeLimitExceeded

#: The first and the longest pause; pauses double in between.
PAUSE_SECONDS = (1.0, 15.0)


class DatabaseAway(Reject):
    """The delivery comes back without being counted (tasks/celery_requests.py)."""


class Backoff:
    """The state of one process, because the database is the problem, and not a job."""

    def __init__(self) -> None:
        self._failures = 0

    def pause(self) -> None:
        """Sleep, with jitter, so that the processes of many nodes do not all come back at once."""
        first, longest = PAUSE_SECONDS
        seconds = min(longest, first * 2**self._failures)
        self._failures = min(self._failures + 1, 16)
        # a time limit here would only reach Celery, which would treat it as the task's failure
        with suppress(SoftTimeLimitExceeded):
            time.sleep(seconds * (1 + 0.2 * random()))  # noqa: S311 - jitter

    def reset(self) -> None:
        """Reset the pause after the database has answered."""
        self._failures = 0


backoff = Backoff()
