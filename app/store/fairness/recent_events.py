"""Recent events of jobs, for figures that are read every few seconds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.domain.waiting import GRAIN, Pace
from app.store.core.unit_of_work import Tx

#: How many events one query reads, the newest first.
MOST_EVENTS = 20_000

# By the primary key and with a maximum: the cost does not depend on the size of the table.  By time, it would need an
# index that every step of every job pays for, or the BRIN index, which reads all of the newest pages until a vacuum has
# seen them.
_RECENT = text("""
    WITH newest AS MATERIALIZED (
        SELECT id, job_id, at, event, facts->>'attempt' AS attempt FROM job_events ORDER BY id DESC LIMIT :most),
    recent AS (
        SELECT e.id, e.job_id, e.at, e.event, e.attempt, r.tier
          FROM newest e JOIN analysis_requests r ON r.job_id = e.job_id AND r.role = 'payer'
         WHERE e.at >= :since AND e.event IN ('snoozed', 'woken', 'started')),
    told AS (
        SELECT event AS what, tier, CAST(NULL AS interval) AS took FROM recent
        UNION ALL
        SELECT 'wait', e.tier, e.at - a.at
          FROM recent e JOIN job_events a ON a.job_id = e.job_id AND a.event = 'accepted'
         WHERE e.event = 'started' AND e.attempt = '1'
        UNION ALL
        SELECT CASE WHEN extract(epoch FROM e.at - a.at) BETWEEN CAST(a.facts->'eta'->>0 AS float8)
                                                             AND CAST(a.facts->'eta'->>1 AS float8)
                    THEN 'kept' ELSE 'missed' END, e.tier, NULL
          FROM recent e JOIN job_events a ON a.job_id = e.job_id AND a.event = 'accepted'
         WHERE e.event = 'started' AND e.attempt = '1' AND jsonb_typeof(a.facts->'eta') = 'array'
        UNION ALL
        SELECT 'wake', e.tier, e.at - before.at
          FROM recent e CROSS JOIN LATERAL (
               SELECT b.at, b.event FROM job_events b WHERE b.job_id = e.job_id AND b.id < e.id
                ORDER BY b.id DESC LIMIT 1) before
         WHERE e.event = 'started' AND before.event = 'woken')
    SELECT what, tier::text AS tier, width_bucket(seconds, CAST(:bounds AS float8[])) AS bucket, count(*) AS events,
           coalesce(sum(seconds), 0) AS seconds
      FROM (SELECT what, tier, extract(epoch FROM took)::float8 AS seconds FROM told) t GROUP BY 1, 2, 3
     UNION ALL
    SELECT 'read', NULL, NULL, count(*), coalesce(extract(epoch FROM min(at))::float8, 0) FROM newest""")
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
_SLOTS = text("""
    SELECT s.service, coalesce(u.tier, 'free')::text AS tier, count(*) AS slots
      FROM execution_slots s LEFT JOIN user_subscriptions u ON u.user_id = s.user_id AND u.status = 'active'
     GROUP BY 1, 2""")


class RecentEventRow(NamedTuple):
    """The number of events of one kind.  tier: None for scheduled jobs; bucket: see `events`."""

    what: str
    tier: str | None
    bucket: int | None
    events: int
    seconds: float | None


class SlotsRow(NamedTuple):
    """Slots that are taken now.  tier: the current one."""

    service: str
    tier: str | None
    slots: int


def events(tx: Tx, *, since: datetime, bounds: Sequence[float], most: int = MOST_EVENTS) -> list[RecentEventRow]:
    """Snoozes, wakes and starts since then, among the newest `most` events of all kinds.

    what: snoozed, woken, started; `wait` of first starts since the accept and `wake` of starts since the wake just
    before, whose bucket counts the `bounds` (seconds, ascending) at or below the time taken; `kept`, `missed`: first
    starts within and outside the estimate of the accept; `read`: how many events were read, and the oldest one's time
    since the epoch.
    """
    return tx.run(_RECENT, since=since, bounds=list(bounds), most=most).values(RecentEventRow)


def slots(tx: Tx) -> list[SlotsRow]:
    """Slots that are taken now, by service and tier."""
    return tx.run(_SLOTS).values(SlotsRow)


def paces(tx: Tx, *, since: datetime, most: int, least: int) -> dict[tuple[str, bool], Pace]:
    """Read the pace by (queue, whether the job was held) in the newest `most` events, from `least` starts on."""
    rows = tx.run(_PACES, since=since, most=most, least=least, grain=GRAIN)
    return {(row.queue, row.held): Pace(row.pace[0], row.pace[1], row.pace[2], row.waited) for row in rows}
