"""Learn from recent waits how they compare with the estimates of their accepts (docs/adr/0029)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from app.domain.waiting import Pace
from app.store.core.unit_of_work import Tx
from app.store.fairness import recent_events

#: A process reads the waits again after this time.
FRESH = timedelta(seconds=5)
#: Older starts say nothing about the present load.
SPAN = timedelta(minutes=15)
#: How many events one query reads, about 200 jobs; and how many starts are needed to learn anything.
MOST_EVENTS, LEAST_STARTS = 1_500, 20


class ObservedWaits:
    """The state of one process.  Several threads may use it, and may query at the same time."""

    def __init__(self) -> None:
        self._paces: Mapping[tuple[str, bool], Pace] = {}
        self._looked_at: datetime | None = None

    def paces(self, tx: Tx, *, now: datetime) -> Mapping[tuple[str, bool], Pace]:
        """Return the pace by (queue, whether the limit holds the job back); queried at most every five seconds."""
        if self._looked_at is None or not self._looked_at <= now < self._looked_at + FRESH:
            self._looked_at = now
            self._paces = recent_events.paces(tx, since=now - SPAN, most=MOST_EVENTS, least=LEAST_STARTS)
        return self._paces
