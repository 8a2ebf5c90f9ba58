"""Faults in what jobs and nodes hold: slots, reservations, leases and places in a queue."""

from __future__ import annotations

from sqlalchemy import text

_NOW = "(SELECT clock_timestamp())"

# The grace is for what is under way: a worker that dies leaves a slot, which its user's next start drops.
LEAKED_SLOTS = text(f"""
    SELECT s.job_id, s.user_id, s.service, s.taken_at, s.lease_expires_at
      FROM execution_slots s
     WHERE s.lease_expires_at < {_NOW} - make_interval(secs => :grace)
       AND NOT EXISTS (SELECT FROM broker_message m
                        WHERE m.task_id = s.job_id::text AND m.lease_token = s.lease_token)
     ORDER BY s.lease_expires_at LIMIT :most""")

# Message and reservation come and go in one commit, so one without the other is no job's, whenever it expires.  The
# reservation of a dead letter is the job's until the sweep has ended it.
ORPHANS = text("""
    WITH alone AS MATERIALIZED (
        SELECT r.job_id, r.user_id, r.event_type::text AS event_type, r.reserved_amount, r.expires_at
          FROM quota_reservations r
         WHERE NOT EXISTS (SELECT FROM broker_message m WHERE m.task_id = r.job_id::text))
    SELECT o.* FROM alone o LEFT JOIN job_records a ON a.id = o.job_id
     WHERE NOT EXISTS (SELECT FROM broker_dead_letter d
                        WHERE d.task_id = o.job_id::text AND coalesce(a.status, 'running') = 'running')
     ORDER BY o.expires_at LIMIT :most""")

# A living node promotes what is due, and takes ended leases back, within seconds.
STUCK_MESSAGES = text(f"""
    SELECT q.name AS queue, m.task_id AS job_id, late.id AS message, late.why, late.since
      FROM broker_queue q
     CROSS JOIN LATERAL (
           (SELECT l.id, 'its lease has ended' AS why, l.until AS since FROM broker_lease l
             WHERE l.queue_id = q.id AND l.until < {_NOW} - make_interval(secs => :grace)
             ORDER BY l.until LIMIT :most)
           UNION ALL
           (SELECT w.id, 'its delay has ended', w.due_at FROM broker_waiting w
             WHERE w.queue_id = q.id AND w.due_at < {_NOW} - make_interval(secs => :grace)
             ORDER BY w.due_at LIMIT :most)) late
      LEFT JOIN broker_message m ON m.id = late.id
     ORDER BY late.since LIMIT :most""")

OVERDUE_JOBS = text(f"""
    SELECT q.name AS queue, m.task_id AS job_id, n.name AS node, l.started_at
      FROM broker_lease l JOIN broker_queue q ON q.id = l.queue_id JOIN broker_message m ON m.id = l.id
      LEFT JOIN broker_node n ON n.id = l.node_id
     WHERE l.started_at < {_NOW} - make_interval(secs => :grace + CASE split_part(q.name, '_', 1)
               WHEN 'analysis' THEN :analysis WHEN 'specview' THEN :specview ELSE :maintenance END)
     ORDER BY l.started_at LIMIT :most""")

DEAD_NODES = text("""
    SELECT n.name AS node, n.id, n.since, (SELECT count(*) FROM broker_lease l WHERE l.node_id = n.id) AS leased
      FROM broker_node n WHERE NOT n.is_alive ORDER BY n.name LIMIT :most""")

# Whoever runs, is about to or will by itself wakes the next one when it ends: in any queue of the service.
PARKED_ALONE = text("""
    WITH parked AS MATERIALIZED (
        SELECT w.tenant, split_part(q.name, '_', 1) AS service, count(*) AS messages, min(w.id) AS oldest
          FROM broker_waiting w JOIN broker_queue q ON q.id = w.queue_id
         WHERE w.reason = 'parked' GROUP BY 1, 2
    ), runs AS MATERIALIZED (
        SELECT m.tenant, split_part(q.name, '_', 1) AS service
          FROM broker_lease l JOIN broker_message m ON m.id = l.id JOIN broker_queue q ON q.id = l.queue_id
         WHERE m.tenant IS NOT NULL
    ), queues AS (SELECT id, split_part(name, '_', 1) AS service FROM broker_queue)
    SELECT p.tenant AS user_id, p.service, p.messages,
           (SELECT m.task_id FROM broker_message m WHERE m.id = p.oldest) AS job_id
      FROM parked p
     WHERE NOT EXISTS (SELECT FROM runs r WHERE r.tenant = p.tenant AND r.service = p.service)
       AND NOT EXISTS (SELECT FROM queues q JOIN broker_ready r ON r.queue_id = q.id AND r.tenant = p.tenant
                        WHERE q.service = p.service)
       AND NOT EXISTS (SELECT FROM queues q JOIN broker_waiting w ON w.queue_id = q.id AND w.tenant = p.tenant
                        WHERE q.service = p.service AND w.reason IN ('snooze', 'retry', 'eta'))
     ORDER BY p.messages DESC LIMIT :most""")
