"""What must be so after every commit, as queries that find the rows where it is not (docs/architecture.md)."""

from __future__ import annotations

from sqlalchemy import text

from tests.conftest import World

_HELD = """
    SELECT r.user_id, r.event_type, sum(r.units) AS units FROM (
        SELECT user_id, event_type, reserved_amount AS units FROM quota_reservations
        UNION ALL SELECT user_id, event_type, quota_amount FROM usage_events) r GROUP BY 1, 2"""
_LIVE = """
    SELECT s.user_id, s.service, count(*) AS slots FROM execution_slots s
      JOIN kombu_message m ON m.task_id = s.job_id::text AND m.lease_token = s.lease_token GROUP BY 1, 2"""
_LINE = """
    SELECT m.user_id, split_part(q.name, '_', 1) AS service,
           bool_or(m.delay_reason IN ('snooze', 'parked')) AS snoozed,
           count(*) FILTER (WHERE (m.visible OR m.lease_token IS NOT NULL) AND m.started_at IS NULL) AS coming
      FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id GROUP BY 1, 2"""
_PLAN = """
    FROM users u LEFT JOIN user_subscriptions s ON s.user_id = u.id AND s.status = 'active'
      JOIN subscription_plans p ON p.tier = coalesce(s.tier, 'free')"""

BROKEN = {
    "I1 more used and reserved than the limit": f"""
        SELECT u.id, h.event_type {_PLAN} JOIN ({_HELD}) h ON h.user_id = u.id
         WHERE h.units > CASE h.event_type WHEN 'analysis' THEN p.analyses_per_period
                                           ELSE p.spec_units_per_period END""",
    "I2 a job that is lost": """
        SELECT r.job_id FROM analysis_requests r
         WHERE r.role = 'payer' AND r.cancelled_at IS NULL
           AND NOT EXISTS (SELECT FROM kombu_message m WHERE m.task_id = r.job_id::text)
           AND NOT EXISTS (SELECT FROM job_records a WHERE a.id = r.job_id AND a.status <> 'running')""",
    "I2 a record that runs without a message": """
        SELECT a.id FROM job_records a WHERE a.status = 'running'
           AND NOT EXISTS (SELECT FROM kombu_message m WHERE m.task_id = a.id::text)""",
    "I2 a message of an ended job": """
        SELECT m.task_id FROM kombu_message m JOIN analysis_requests r ON r.job_id::text = m.task_id AND r.role = 'payer'
          LEFT JOIN job_records a ON a.id = r.job_id
         WHERE a.status <> 'running' OR NOT EXISTS (
               SELECT FROM analysis_requests o WHERE o.job_id = r.job_id AND o.cancelled_at IS NULL)""",
    "I3 completed and billable without one usage event": """
        SELECT a.id FROM job_records a JOIN analysis_requests r ON r.job_id = a.id AND r.role = 'payer'
         WHERE a.status = 'completed' AND a.units > 0 AND r.user_id IS NOT NULL AND r.cancelled_at IS NULL
           AND NOT EXISTS (SELECT FROM usage_events e
                            WHERE e.job_id = a.id AND e.user_id = r.user_id AND e.quota_amount = a.units)""",
    "I3 billed without a completed and billable job": """
        SELECT e.job_id FROM usage_events e LEFT JOIN job_records a ON a.id = e.job_id
          LEFT JOIN analysis_requests r ON r.job_id = e.job_id AND r.role = 'payer'
         WHERE e.forgotten_at IS NULL  -- its document was deleted; what was paid stays paid
           AND (a.status IS DISTINCT FROM 'completed' OR r.cancelled_at IS NOT NULL)""",
    "I4 an unfinished, billable job without its reservation": """
        SELECT r.job_id FROM analysis_requests r JOIN kombu_message m ON m.task_id = r.job_id::text
          LEFT JOIN job_events e ON e.job_id = r.job_id AND e.event = 'accepted'
         WHERE r.role = 'payer' AND r.user_id IS NOT NULL AND r.cancelled_at IS NULL
           AND coalesce(CAST(e.facts->'quota'->>'units' AS integer), 1) > 0
           AND NOT EXISTS (SELECT FROM quota_reservations q WHERE q.job_id = r.job_id AND q.user_id = r.user_id)""",
    "I4 a reservation without an unfinished, billable job": """
        SELECT q.job_id FROM quota_reservations q
         WHERE NOT EXISTS (SELECT FROM kombu_message m WHERE m.task_id = q.job_id::text)
            OR NOT EXISTS (SELECT FROM analysis_requests r
                            WHERE r.job_id = q.job_id AND r.role = 'payer' AND r.cancelled_at IS NULL)""",
    "I5 more live slots than the limit": f"""
        SELECT u.id, l.service {_PLAN} JOIN ({_LIVE}) l ON l.user_id = u.id WHERE l.slots > p.concurrent_jobs""",
    "I5 a slot of an ended job": """
        SELECT s.job_id FROM execution_slots s
         WHERE NOT EXISTS (SELECT FROM kombu_message m WHERE m.task_id = s.job_id::text)""",
    "I7 two completed analyses of one commit": """
        SELECT codebase_id FROM analyses WHERE status = 'completed'
         GROUP BY codebase_id, commit_sha, parser_version HAVING count(*) > 1""",
    "I7 a document without all of its behaviours": """
        SELECT d.id FROM spec_documents d WHERE d.status = 'completed' AND CAST(d.summary->>'behaviours' AS bigint) <> (
               SELECT coalesce(sum(f.total), 0) FROM spec_features f WHERE f.document_id = d.id AND f.draft = d.draft)""",
    "I9 a snoozed job beside a free slot that nobody was woken for": f"""
        SELECT u.id, w.service {_PLAN} JOIN ({_LINE}) w ON w.user_id = u.id::text
          LEFT JOIN ({_LIVE}) l ON l.user_id = u.id AND l.service = w.service
         WHERE w.snoozed AND coalesce(l.slots, 0) + w.coming < p.concurrent_jobs""",
    "a dead letter": "SELECT id FROM kombu_dead_letter",
}
_ALL = " UNION ALL ".join(
    f"SELECT '{name}' AS broken, x.* FROM (SELECT CAST(y AS text) AS found FROM ({query}) y) x"
    for name, query in BROKEN.items()
)


_IS_PREPARED = text("SELECT 1 FROM pg_prepared_statements WHERE name = 'broken'")
_PREPARE, _EXECUTE = text(f"PREPARE broken AS {_ALL}"), text("EXECUTE broken")


def broken(world: World) -> list[tuple[object, ...]]:
    """What is wrong, and with which row; empty when all is well.  All of it in one snapshot.

    A session plans the query once, as that takes ten times as long as to run it.
    """
    with world.uow.begin() as tx:
        if tx.run(_IS_PREPARED).first() is None:
            tx.run(_PREPARE)
        return [tuple(row) for row in tx.run(_EXECUTE)]
