"""Learn from recent waits how they compare with the estimates of their accepts (docs/adr/0029)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import text

from app.domain.waiting import GRAIN, Pace
from app.store.core.unit_of_work import Tx

#: A process reads the waits again after this time.
FRESH = timedelta(seconds=5)
#: Older starts say nothing about the present load.
SPAN = timedelta(minutes=15)
#: How many events one query reads, about 200 jobs; and how many starts are needed to learn anything.
MOST_EVENTS, LEAST_STARTS = 1_500, 20

# Actual waits divided by the estimates of the accepts: the 8th percentile, the median and the 92nd percentile of the
# newest starts.
_PACES = text("""
    WITH newest AS MATERIALIZED (
        SELECT job_id, at, event, facts->>'attempt' AS attempt FROM job_events ORDER BY id DESC LIMIT :most),
    told AS (
        SELECT a.facts->>'queue' AS queue, CAST(a.facts->>'held' AS boolean) AS held,
               CAST(a.facts->>'guess' AS float8) AS guess, extract(epoch FROM s.at - a.at)::float8 AS waited
          FROM newest s JOIN job_events a ON a.job_id = s.job_id AND a.event = 'accepted'
         WHERE s.event = 'started' AND s.attempt = '1' AND s.at >= :since AND a.facts->'guess' IS NOT NULL
           -- what was guessed of another line than it started from tells nothing
           AND s.job_id NOT IN (SELECT job_id FROM newest WHERE event = 'carried'))
    SELECT queue, held, avg(waited) AS waited,
           percentile_cont(ARRAY[0.08, 0.5, 0.92]) WITHIN GROUP (ORDER BY (waited + :grain) / (guess + :grain)) AS pace
      FROM told GROUP BY queue, held HAVING count(*) >= :least""")


class ObservedWaits:
    """The state of one process.  Several threads may use it, and may query at the same time."""

    def __init__(self) -> None:
        self._paces: Mapping[tuple[str, bool], Pace] = {}
        self._looked_at: datetime | None = None

    def paces(self, tx: Tx, *, now: datetime) -> Mapping[tuple[str, bool], Pace]:
        """Return the pace by (queue, whether the limit holds the job back); queried at most every five seconds."""
        if self._looked_at is None or not self._looked_at <= now < self._looked_at + FRESH:
            self._looked_at = now
            rows = tx.run(_PACES, since=now - SPAN, most=MOST_EVENTS, least=LEAST_STARTS, grain=GRAIN)
            self._paces = {
                (row.queue, row.held): Pace(row.pace[0], row.pace[1], row.pace[2], row.waited) for row in rows
            }
        return self._paces
