"""Both sides of the bill, counted from different tables, and the result of each count (docs/adr/0024)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

MOST_DIFFERENCES = 1000
DAY = timedelta(days=1)

# The anchor in force at an instant, and from it the period that contains the instant, computed as in
# app/domain/periods.py: k whole months after the anchor, clamped at short months.  Times are in UTC, like the session.
# It is a join and not a look-up per row, because past subscriptions have no index, and one would not be worth its cost.
_PERIOD = """
      LEFT JOIN user_subscriptions s
        ON s.user_id = x.user_id AND s.anchor_at <= x.at AND (s.ended_at IS NULL OR s.ended_at > x.at)
    CROSS JOIN LATERAL (SELECT coalesce(s.anchor_at, u.created_at) AS at) anchor
    CROSS JOIN LATERAL (
        SELECT CAST((extract(year FROM x.at) - extract(year FROM anchor.at)) * 12
                    + extract(month FROM x.at) - extract(month FROM anchor.at) AS integer) AS months) k
    CROSS JOIN LATERAL (
        SELECT anchor.at + make_interval(months => k.months
               - (anchor.at + make_interval(months => k.months) > x.at)::int) AS start) period"""
# A payer who comes back is accepted again, perhaps on another day than the request; this is rare, and has its index.
_SIDES = f"""
    WITH asked AS MATERIALIZED (
        SELECT id FROM analysis_requests
         WHERE role = 'payer' AND requested_at >= :begin AND requested_at < CAST(:end AS timestamptz)
         UNION
        SELECT r.id FROM job_events e JOIN analysis_requests r ON r.job_id = e.job_id AND r.role = 'payer'
         WHERE e.event = 'payer_came_back' AND CAST(e.facts->'quota'->>'at' AS timestamptz) >= :begin
           AND CAST(e.facts->'quota'->>'at' AS timestamptz) < CAST(:end AS timestamptz)
    ), accepted AS MATERIALIZED (
        SELECT r.user_id, r.service, accept.at, a.status = 'completed' AND r.cancelled_at IS NULL AS is_billed,
               coalesce(a.status = 'running', r.cancelled_at IS NULL) AS is_unfinished,
               least(accept.units, greatest(a.units, billed.before)) AS units
          FROM asked JOIN analysis_requests r USING (id)
          LEFT JOIN job_records a ON a.id = r.job_id
         -- a release before the rule of docs/adr/0033 billed an analysis without a test, too
         CROSS JOIN LATERAL (SELECT count(*) AS before FROM usage_events u
                              WHERE u.job_id = r.job_id AND u.event_type = 'analysis') billed
         CROSS JOIN LATERAL (
               SELECT q.units, q.at FROM job_events e
                CROSS JOIN LATERAL jsonb_to_record(e.facts->'quota') AS q(units bigint, at timestamptz)
                WHERE e.job_id = r.job_id AND e.event IN ('accepted', 'payer_came_back')
                ORDER BY e.id DESC LIMIT 1) accept
         WHERE r.trigger <> 'scheduled' AND r.user_id IS NOT NULL
           AND accept.at >= :begin AND accept.at < CAST(:end AS timestamptz)
    ), jobs AS (
        SELECT user_id, service, at, units FROM accepted WHERE is_billed AND units > 0
    ), events AS (
        SELECT user_id, event_type::text AS service, accepted_at AS at, quota_amount AS amount FROM usage_events
         WHERE user_id IS NOT NULL AND accepted_at >= :begin AND accepted_at < CAST(:end AS timestamptz)
           AND forgotten_at IS NULL  -- its job has left its payer's history, and so the other side
    ), expected AS (
        SELECT x.user_id, x.service, period.start, count(*) AS jobs, sum(x.units) AS units
          FROM jobs x JOIN users u ON u.id = x.user_id {_PERIOD} GROUP BY 1, 2, 3
    ), billed AS (
        SELECT x.user_id, x.service, period.start, count(*) AS events, sum(x.amount) AS amount
          FROM events x JOIN users u ON u.id = x.user_id {_PERIOD} GROUP BY 1, 2, 3
    ), sides AS MATERIALIZED (
    SELECT user_id, service, start AS period, coalesce(jobs, 0) AS jobs, coalesce(units, 0) AS units,
           coalesce(events, 0) AS events, coalesce(amount, 0) AS amount
      FROM expected FULL JOIN billed USING (user_id, service, start))"""
_COUNT = text(f"""
    {_SIDES}, different AS (
        SELECT * FROM sides WHERE (jobs, units) <> (events, amount) ORDER BY user_id, service, period LIMIT :most)
    SELECT CAST(coalesce(sum(jobs), 0) AS bigint) AS jobs, CAST(coalesce(sum(events), 0) AS bigint) AS events,
           (SELECT count(*) FROM asked) AS read, (SELECT count(*) FROM accepted WHERE is_unfinished) AS unfinished,
           (SELECT coalesce(jsonb_agg(to_jsonb(different)), '[]') FROM different) AS differences FROM sides""")
# Bills are never deleted, so those of a closed day remain the same; this reads them without looking anything else up.
_BILLS = """
    SELECT count(*) AS bills, coalesce(sum(quota_amount), 0) AS amount FROM usage_events
     WHERE accepted_at >= :begin AND accepted_at < :end"""
_CLOSED = text(f"""
    SELECT jobs, events FROM reconciled_days WHERE day = :day AND (bills, amount) = ({_BILLS})""")
_CLOSE = text(f"""
    INSERT INTO reconciled_days (day, jobs, events, bills, amount, read_at)
    SELECT :day, :jobs, :events, bills, amount, :now FROM ({_BILLS}) AS now
    ON CONFLICT (day) DO UPDATE SET jobs = excluded.jobs, events = excluded.events, bills = excluded.bills,
                                    amount = excluded.amount, read_at = excluded.read_at""")
_ADD = text("""
    INSERT INTO reconciliations (ran_at, since, jobs, events, differences)
    VALUES (:now, :since, :jobs, :events, CAST(:differences AS jsonb))""")
_NEWEST = text("""
    SELECT ran_at, jsonb_array_length(differences) AS differences FROM reconciliations ORDER BY id DESC LIMIT 1""")


class CountRow(NamedTuple):
    """Both sides of the bill.

    jobs: completed and billable; events: billed; read: jobs that were looked at; unfinished: of those that may be
    billed; differences: JSON of user_id, service, period, jobs, units, events, amount.
    """

    jobs: int
    events: int
    read: int
    unfinished: int
    differences: list[dict[str, Any]]


class ClosedDayRow(NamedTuple):
    """The counts of a day that was closed."""

    jobs: int
    events: int


class ReconciliationRow(NamedTuple):
    """A run.  differences: how many."""

    ran_at: datetime
    differences: int


def count(tx: Tx, *, begin: datetime, end: datetime | None) -> CountRow:
    """Count both sides of what was accepted in [begin, end), None: until now, in one statement.

    Up to 1000 differences: jobs differ from events, or units from the amount.
    """
    return tx.run(_COUNT, begin=begin, end=end or "infinity", most=MOST_DIFFERENCES).value(CountRow)


def closed_day(tx: Tx, begin: datetime) -> ClosedDayRow | None:
    """The counts of a day that was closed, if its bills are still the same.  begin: midnight UTC."""
    return tx.run(_CLOSED, day=begin.date(), begin=begin, end=begin + DAY).value_or_none(ClosedDayRow)


def close_day(tx: Tx, begin: datetime, *, jobs: int, events: int, now: datetime) -> None:
    """Remember a day whose jobs have all ended and whose two sides were equal."""
    tx.write(_CLOSE, day=begin.date(), begin=begin, end=begin + DAY, jobs=jobs, events=events, now=now)


def add(
    tx: Tx, *, since: datetime, jobs: int, events: int, differences: Sequence[Mapping[str, object]], now: datetime
) -> None:
    """Store the result of a run."""
    tx.write(_ADD, now=now, since=since, jobs=jobs, events=events, differences=json.dumps(differences))


def newest(tx: Tx) -> ReconciliationRow | None:
    """The last run; None before the first."""
    return tx.run(_NEWEST).value_or_none(ReconciliationRow)
