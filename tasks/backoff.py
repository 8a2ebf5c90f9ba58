"""What a worker does while the database cannot serve it: it waits longer each time, and gives the message back."""

import time
from contextlib import suppress
from random import random

from celery.exceptions import Reject, SoftTimeLimitExceeded

#: The first and the longest pause, doubled in between.
PAUSE_SECONDS = (1.0, 15.0)


class DatabaseAway(Reject):
    """The delivery comes back without a count (tasks/celery_requests.py)."""


class Backoff:
    """Of one process, since it is the database that is unwell, and not a job."""

    def __init__(self) -> None:
        self._failures = 0

    def pause(self) -> None:
        """Sleep: with jitter, so that the processes of many nodes do not come back all at once."""
        first, longest = PAUSE_SECONDS
        seconds = min(longest, first * 2**self._failures)
        self._failures = min(self._failures + 1, 16)
        # nobody but Celery would hear of a time limit here, and take it for the task's failure
        with suppress(SoftTimeLimitExceeded):
            time.sleep(seconds * (1 + 0.2 * random()))  # noqa: S311 - jitter

    def reset(self) -> None:
        """The database has done what was asked."""
        self._failures = 0


backoff = Backoff()
