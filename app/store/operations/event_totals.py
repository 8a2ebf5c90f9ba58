"""How often each thing has happened to jobs, and how long it took: totals that only grow (docs/adr/0080)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

#: A mark is believed no sooner: between its number and its transaction's an event may have had neither.
MARK_SECONDS = 10

_LOCK = text("""
    SELECT counted_to, CAST(seen AS text) AS seen, settled_to FROM event_totals_position FOR UPDATE SKIP LOCKED""")
# A statement of its own, so that its snapshot is newer than the one that the position was left with.  By the primary
# key: the cost is that of the events since then, and of those whose transactions may have been under way.
_COUNT = text("""
    WITH new AS MATERIALIZED (
        SELECT e.id, e.job_id, e.at, e.event, e.facts, CAST(e.facts->>'attempt' AS integer) AS attempt
          FROM job_events e
         WHERE e.id > :settled_to AND e.id <= :counted_to + :most AND e.written_by IS NOT NULL
           AND (e.id > :counted_to OR NOT pg_visible_in_snapshot(e.written_by, CAST(:seen AS pg_snapshot)))),
    of_jobs AS (
        SELECT n.*, coalesce(split_part(a.facts->>'queue', '_', 1), '') AS service,
               coalesce(a.facts->>'tier', 'none') AS tier, extract(epoch FROM n.at - a.at)::float8 AS since_accept,
               extract(epoch FROM n.at - b.at)::float8 AS since_before, b.event AS before, a.facts->'eta' AS eta
          FROM new n
          LEFT JOIN LATERAL (SELECT at, facts FROM job_events WHERE job_id = n.job_id AND event = 'accepted'
                              ORDER BY id LIMIT 1) a ON true
          LEFT JOIN LATERAL (SELECT at, event FROM job_events
                              WHERE job_id = n.job_id AND id < n.id
                                AND event IN ('started', 'woken', 'retrying', 'snoozed', 'redriven', 'moved')
                              ORDER BY id DESC LIMIT 1) b
                 ON n.event IN ('started', 'completed', 'failed', 'cancelled')),
    told AS (
        SELECT event AS name, service, tier, CASE WHEN event IN ('failed', 'retrying') THEN facts->>'code' END AS code,
               CAST(NULL AS float8) AS seconds
          FROM of_jobs
        UNION ALL  -- an attempt that ended without a word of it
        SELECT 'lost', service, tier, NULL, NULL FROM of_jobs j
         WHERE (j.event = 'started' AND j.attempt > 1
                AND NOT EXISTS (SELECT FROM job_events r WHERE r.job_id = j.job_id AND r.event = 'retrying'
                                   AND CAST(r.facts->>'attempt' AS integer) = j.attempt - 1))
            OR (j.event = 'failed' AND j.facts->>'code' = 'worker_lost')
        UNION ALL
        SELECT 'wait', service, tier, NULL, since_accept FROM of_jobs WHERE event = 'started' AND attempt = 1
        UNION ALL
        SELECT CASE WHEN since_accept BETWEEN CAST(eta->>0 AS float8) AND CAST(eta->>1 AS float8)
                    THEN 'estimate_kept' ELSE 'estimate_missed' END, service, tier, NULL, NULL
          FROM of_jobs WHERE event = 'started' AND attempt = 1 AND jsonb_typeof(eta) = 'array'
        UNION ALL
        SELECT 'wake', service, tier, NULL, since_before FROM of_jobs WHERE event = 'started' AND before = 'woken'
        UNION ALL
        SELECT 'run', service, tier, event, since_before FROM of_jobs WHERE event <> 'started' AND before = 'started'),
    added AS (
        INSERT INTO event_totals AS t (name, service, tier, code, bucket, events, seconds)
        SELECT name, service, tier, coalesce(code, ''),
               CASE WHEN seconds IS NULL THEN 0 ELSE width_bucket(seconds, CAST(:bounds AS float8[])) END,
               count(*), coalesce(sum(seconds), 0)
          FROM told GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
            ON CONFLICT (name, service, tier, code, bucket)
            DO UPDATE SET events = t.events + excluded.events, seconds = t.seconds + excluded.seconds),
    reached AS (
        SELECT greatest(:counted_to, least(coalesce(max(id), 0), :counted_to + :most)) AS id,
               coalesce(max(id), 0) AS last
          FROM job_events),
    -- A mark is an id that was given before this transaction got its number, so whoever may have an id up to it has a
    -- lower number.  A snapshot ends with the last transaction that has ended, and says nothing of that.  A mark of
    -- another server, which a dump was restored from, may never be passed.
    moved AS (
        UPDATE event_totals_position p
           SET counted_to = r.id, seen = pg_current_snapshot(),
               settled_to = CASE WHEN m.is_passed THEN p.mark_to ELSE p.settled_to END,
               mark_to = CASE WHEN m.is_passed OR m.is_strange THEN :counted_to ELSE p.mark_to END,
               marked_at = CASE WHEN m.is_passed OR m.is_strange THEN clock_timestamp() ELSE p.marked_at END,
               marked_before = CASE WHEN m.is_passed OR m.is_strange THEN pg_current_xact_id() ELSE p.marked_before END
          FROM reached r
         CROSS JOIN LATERAL (
               SELECT old.marked_before <= pg_snapshot_xmin(pg_current_snapshot())
                          AND old.marked_at < clock_timestamp() - :mark_seconds * interval '1 second' AS is_passed,
                      old.marked_before > pg_current_xact_id() AS is_strange
                 FROM event_totals_position old) m)
    SELECT last - id AS left_over FROM reached""")
_ADD = text("""
    INSERT INTO event_totals AS t (name, service, tier, code, bucket, events, seconds)
    VALUES (:name, '', 'none', :code, 0, 1, 0)
    ON CONFLICT (name, service, tier, code, bucket) DO UPDATE SET events = t.events + 1""")
_READ = text("""
    SELECT name, service, tier, code, bucket, events, seconds FROM event_totals
     ORDER BY name, service, tier, code, bucket""")


@dataclass(frozen=True, slots=True)
class PositionRow:
    """Up to where events are counted.  seen: the snapshot that saw them; settled_to: nothing before can still come."""

    counted_to: int
    seen: str
    settled_to: int


class TotalRow(NamedTuple):
    """Events of one name since counting began.

    service: "" for what no accept is known of; tier: `none` for scheduled jobs; code: of failures and retries, and how
    a `run` ended; bucket: of `wait`, `wake` and `run`, how many bounds are below the time that they took; seconds: in
    all.
    """

    name: str
    service: str
    tier: str
    code: str
    bucket: int
    events: int
    seconds: float


def add_new(tx: Tx, *, bounds: Sequence[float], most: int) -> int:
    """Count the events that were not counted yet, those of `most` ids.

    bounds: seconds, ascending.  -> how many ids are left.  Locks: the position; if another transaction has it, nothing
    is counted, and nothing is left.
    """
    found = tx.run(_LOCK).value_or_none(PositionRow)
    if found is None:
        return 0
    at = {"counted_to": found.counted_to, "seen": found.seen, "settled_to": found.settled_to}
    return int(tx.run(_COUNT, **at, bounds=list(bounds), most=most, mark_seconds=MARK_SECONDS).scalar_one())


def add(tx: Tx, name: str, code: str) -> None:
    """Count something that no event tells.  Locks: its total until the commit, so only for what happens seldom."""
    tx.write(_ADD, name=name, code=code)


def totals(tx: Tx) -> list[TotalRow]:
    """All totals: as many rows as there are names, services, tiers, codes and buckets that ever occurred."""
    return tx.run(_READ).values(TotalRow)
