"""Limits, bills and reservations (docs/adr/0005)."""

from __future__ import annotations

from app.store.operations.invariants.invariant import Invariant, job_of

# What an accept saw and reserved is in its event; for a payer who left and came back, the last one counts.
_CAME_BACK = """
    SELECT DISTINCT ON (job_id) job_id, id, facts->'quota' AS quota FROM job_events
     WHERE event = 'payer_came_back' ORDER BY job_id, id DESC"""

# Judged by the limit of that moment: a limit that was lowered since is no violation.  What the accept says it saw is
# checked against the units of earlier accepts that are still billed or reserved, because it must have seen at least
# these.  Without a limit, an accept does not look.
# Accepts are in the order of their records, which an account keeps in each cell; the events of a job that others have
# brought there have lower ids than those of the payer's earlier jobs (docs/adr/0097).  A payer came back after the last
# accept before that, by the database's clock.
LIMIT = Invariant(
    "I1",
    "no accept exceeds the limit",
    "At every accept, the used, reserved and requested units were within the limit; no accept overlooked another.",
    f"""
    WITH came_back AS ({_CAME_BACK}), accepts AS (
        SELECT e.id, e.at AS happened_at, e.event <> 'accepted' AS is_return,
               CASE e.event WHEN 'accepted' THEN r.id
                    ELSE max(r.id) OVER (PARTITION BY r.user_id ORDER BY e.at, e.id) END AS place,
               e.job_id, r.user_id, r.service, q.mode, q.units, q.used + q.reserved AS seen, q."limit", q.period,
               CASE WHEN e.id >= coalesce(c.id, e.id) AND (u.accepted_at = q.at OR h.accepted_at = q.at)
                    THEN coalesce(u.quota_amount, h.reserved_amount) ELSE 0 END AS standing
          FROM job_events e
          JOIN analysis_requests r ON r.job_id = e.job_id AND r.role = 'payer' AND r.user_id IS NOT NULL
         CROSS JOIN LATERAL jsonb_to_record(e.facts->'quota') AS q(
               mode text, units bigint, used bigint, reserved bigint, "limit" bigint, period text, at timestamptz)
          LEFT JOIN came_back c ON c.job_id = e.job_id
          LEFT JOIN usage_events u ON u.job_id = e.job_id
          LEFT JOIN quota_reservations h ON h.job_id = e.job_id
         WHERE e.event IN ('accepted', 'payer_came_back') AND q.units > 0
           AND (CAST(:since AS timestamptz) IS NULL OR e.at >= :since)
    ), counted AS (
        SELECT *, coalesce(sum(standing) OVER (PARTITION BY user_id, service, period COLLATE "C"
                                               ORDER BY place, is_return, happened_at, id
                                               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
          FROM accepts)
    SELECT job_id, user_id, mode, units, seen, before AS there, "limit" FROM counted
     WHERE "limit" IS NOT NULL
       AND (seen < before OR (mode = 'enforce' AND greatest(seen, before) + units > "limit"))""",
)

BILL = Invariant(
    "I3",
    "billed if and only if completed and billable",
    "A job has one usage event if and only if it completed, has a price, and its payer stayed; as accepted.",
    f"""
    WITH came_back AS ({_CAME_BACK}), jobs AS (
        SELECT r.job_id, r.user_id, coalesce(a.status::text, 'no record') AS record, u.quota_amount AS billed,
               u.accepted_at AS billed_at,
               CAST(coalesce(c.quota, e.facts->'quota')->>'at' AS timestamptz) AS accepted_at,
               CASE WHEN a.status IS DISTINCT FROM 'completed' OR r.trigger = 'scheduled' OR r.cancelled_at IS NOT NULL
                    THEN 0
                    ELSE least(CAST(coalesce(c.quota, e.facts->'quota')->>'units' AS integer),
                               -- a release before the rule of docs/adr/0033 billed an analysis without a test, too
                               CASE WHEN r.service = 'analysis' AND u.job_id IS NOT NULL THEN 1 ELSE a.units END)
                     END AS due
          FROM analysis_requests r
          LEFT JOIN job_records a ON a.id = r.job_id
          LEFT JOIN job_events e ON e.job_id = r.job_id AND e.event = 'accepted'
          LEFT JOIN came_back c ON c.job_id = r.job_id
          LEFT JOIN usage_events u ON u.job_id = r.job_id
         WHERE r.role = 'payer' AND (CAST(:since AS timestamptz) IS NULL OR r.requested_at >= :since))
    SELECT job_id, user_id, record, due, billed, accepted_at, billed_at FROM jobs
     WHERE (due > 0 AND billed IS NULL AND user_id IS NOT NULL) OR billed <> due OR billed_at <> accepted_at
    UNION ALL
    SELECT u.job_id, u.user_id, 'no job', 0, u.quota_amount, NULL, u.accepted_at FROM usage_events u
     WHERE u.forgotten_at IS NULL
       AND (CAST(:since AS timestamptz) IS NULL OR u.accepted_at >= :since)
       AND NOT EXISTS (SELECT FROM analysis_requests r WHERE r.job_id = u.job_id)
       AND NOT EXISTS (SELECT FROM job_events e WHERE e.job_id = u.job_id)""",
)

# A job whose message is a dead letter is unfinished until the sweep has ended it.
RESERVATION = Invariant(
    "I4",
    "reserved if and only if unfinished",
    "The units of a job with a payer stay reserved until it ends, and no longer.",
    f"""
    WITH jobs AS MATERIALIZED (
        SELECT {job_of("m")} AS job_id FROM broker_message m UNION SELECT {job_of("d")} FROM broker_dead_letter d
    ), units AS (
        SELECT j.job_id, (SELECT CAST(e.facts->'quota'->>'units' AS integer) FROM job_events e
                           WHERE e.job_id = j.job_id AND e.event IN ('accepted', 'payer_came_back')
                           ORDER BY e.id DESC LIMIT 1) AS units FROM jobs j)
    SELECT q.job_id, q.user_id, q.reserved_amount AS held, u.units AS due,
           CASE WHEN u.job_id IS NULL THEN 'no message' WHEN a.status <> 'running' THEN 'ended'
                WHEN r.cancelled_at IS NOT NULL THEN 'payer left' ELSE 'amount' END AS why
      FROM quota_reservations q
      LEFT JOIN units u ON u.job_id = q.job_id
      LEFT JOIN job_records a ON a.id = q.job_id
      LEFT JOIN analysis_requests r ON r.job_id = q.job_id AND r.role = 'payer'
     WHERE (u.job_id IS NULL OR a.status <> 'running' OR r.cancelled_at IS NOT NULL OR q.reserved_amount <> u.units)
       AND (CAST(:since AS timestamptz) IS NULL OR q.accepted_at >= :since)
    UNION ALL
    SELECT u.job_id, r.user_id, 0, u.units, 'nothing held' FROM units u
      JOIN analysis_requests r ON r.job_id = u.job_id AND r.role = 'payer'
      LEFT JOIN job_records a ON a.id = u.job_id
     WHERE u.units > 0 AND r.user_id IS NOT NULL AND r.cancelled_at IS NULL
       AND coalesce(a.status, 'running') = 'running'
       AND NOT EXISTS (SELECT FROM quota_reservations q WHERE q.job_id = u.job_id)
       AND (CAST(:since AS timestamptz) IS NULL OR r.requested_at >= :since)""",
)

SUMS = Invariant(
    "I13",
    "running sums are the sums of the bills",
    "For each user, kind of unit and hour, the running sum is the sum of the usage events that were accepted in it.",
    """
    WITH events AS (
        SELECT user_id, event_type, date_trunc('hour', accepted_at, 'UTC') AS hour_at, sum(quota_amount) AS amount
          FROM usage_events WHERE user_id IS NOT NULL AND accepted_at >= (
               SELECT coalesce(date_trunc('hour', CAST(:since AS timestamptz), 'UTC'), '-infinity'))
         GROUP BY 1, 2, 3
    ), sums AS (
        SELECT * FROM usage_sums WHERE hour_at >= (
               SELECT coalesce(date_trunc('hour', CAST(:since AS timestamptz), 'UTC'), '-infinity')))
    SELECT user_id, event_type::text AS event_type, hour_at, coalesce(s.amount, 0) AS running,
           coalesce(e.amount, 0) AS events
      FROM events e FULL JOIN sums s USING (user_id, event_type, hour_at)
     WHERE coalesce(s.amount, 0) <> coalesce(e.amount, 0)""",
)

RECONCILED = Invariant(
    "R",
    "the last reconciliation found no difference",
    "For each user and period, the billable completed jobs match the usage events; both sides are counted daily.",
    """
    SELECT ran_at, d.* FROM (SELECT * FROM reconciliations ORDER BY id DESC LIMIT 1) last
     CROSS JOIN LATERAL jsonb_to_recordset(last.differences) AS d(
           user_id uuid, service text, period timestamptz, jobs bigint, units bigint, events bigint, amount bigint)
     WHERE CAST(:since AS timestamptz) IS NULL OR ran_at >= :since""",
)
