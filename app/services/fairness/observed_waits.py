"""What was learnt of waits: how they came out of late beside what was guessed with the accept (docs/adr/0029)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from app.domain.waiting import Pace
from app.store import recent_events
from app.store.unit_of_work import Tx

#: A process looks again after so long.
FRESH = timedelta(seconds=5)
#: Older starts tell of another load.
SPAN = timedelta(minutes=15)
#: Events that one look reads, about 200 jobs; and starts below which nothing is learnt.
MOST_EVENTS, LEAST_STARTS = 1_500, 20


class ObservedWaits:
    """Of one process; several threads may ask, and two may look at once, which harms nobody."""

    def __init__(self) -> None:
        self._paces: Mapping[tuple[str, bool], Pace] = {}
        self._looked_at: datetime | None = None

    def paces(self, tx: Tx, *, now: datetime) -> Mapping[tuple[str, bool], Pace]:
        """By queue and whether the job is held back by its user's limit; looked up at most every five seconds."""
        if self._looked_at is None or not self._looked_at <= now < self._looked_at + FRESH:
            self._looked_at = now
            self._paces = recent_events.paces(tx, since=now - SPAN, most=MOST_EVENTS, least=LEAST_STARTS)
        return self._paces
