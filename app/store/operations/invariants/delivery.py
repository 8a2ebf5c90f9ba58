"""Slots, fences, waiting and schedules (docs/adr/0003, docs/adr/0008, docs/adr/0013)."""

from __future__ import annotations

from app.store.operations.invariants.invariant import Invariant

# Slot numbers of a user and service are distinct.  So as long as none is above the limit under which it was taken, no
# more slots were taken than that limit.  Dead slots count for nobody (docs/adr/0003).
SLOTS = Invariant(
    "I5",
    "no more slots than the limit",
    "The running jobs of a user and service never exceed the limit that was in force when they started.",
    """
    SELECT s.user_id, s.service, s.slot_no, s.slot_limit, s.job_id, s.taken_at
      FROM execution_slots s
      JOIN broker_message m ON m.task_id = s.job_id::text AND m.lease_token = s.lease_token
     WHERE s.slot_no > s.slot_limit AND (CAST(:since AS timestamptz) IS NULL OR s.taken_at >= :since)""",
)

# A redriven job counts its attempts anew, and so does one that moved with its account.
# I2 reports a job that ended more than once.
FENCE = Invariant(
    "I6",
    "a lost lease writes nothing",
    "A job has no events after its end, and an attempt has none after a later attempt has begun.",
    """
    WITH told AS (
        SELECT e.job_id, e.id, e.event, e.at, CAST(e.facts->>'attempt' AS integer) AS attempt,
               count(*) FILTER (WHERE e.event IN ('redriven', 'moved')) OVER life AS redrives,
               min(e.id) FILTER (WHERE e.event IN ('completed', 'failed', 'cancelled')) OVER life AS ended
          FROM job_events e WHERE CAST(:since AS timestamptz) IS NULL OR e.at >= :since
        WINDOW life AS (PARTITION BY e.job_id ORDER BY e.id)
    ), steps AS (
        SELECT *, max(attempt) OVER (PARTITION BY job_id, redrives ORDER BY id) AS newest FROM told)
    SELECT job_id, id, event, at, attempt, newest, ended FROM steps
     WHERE (id > ended AND event NOT IN ('completed', 'failed', 'cancelled', 'reservation_orphaned'))
        OR (attempt < newest AND event <> 'cancelled')""",
)

# The tables know neither a node's queues nor its free processes.  But where a lease is in force, a node serves the
# queue, and has to make due messages ready and to take lost ones back.  A minute is twelve of its polls.
WAIT = Invariant(
    "I9",
    "delayed messages become ready on time",
    "In a queue that a living node serves, no message is more than a minute past the end of its delay or lease.",
    """
    SELECT q.name AS queue, m.id, m.task_id, late.reason AS delay_reason, late.ready_at, late.why
      FROM (SELECT id, queue_id, reason, due_at AS ready_at, 'due' AS why FROM broker_waiting
            UNION ALL SELECT id, queue_id, NULL, until, 'lease over' FROM broker_lease) late
      JOIN broker_message m ON m.id = late.id JOIN broker_queue q ON q.id = late.queue_id
     WHERE late.ready_at < clock_timestamp() - interval '1 minute' AND q.paused_at IS NULL
       AND (CAST(:since AS timestamptz) IS NULL OR m.enqueued_at >= :since)
       AND EXISTS (SELECT FROM broker_lease held
                    WHERE held.queue_id = late.queue_id AND held.until > clock_timestamp())""",
)

# The clocks of beat's host and of the server may differ slightly.
SCHEDULE = Invariant(
    "I10",
    "each slot of a schedule runs once",
    "A schedule slot has one row and was not sent before its time.",
    """
    SELECT name, slot_at, count(*) AS sent, min(sent_at) AS sent_at FROM schedule_runs
     WHERE CAST(:since AS timestamptz) IS NULL OR slot_at >= :since
     GROUP BY name, slot_at HAVING count(*) > 1 OR min(sent_at) < slot_at - interval '1 minute'""",
)
