-- In whose line a job waits that several users asked for.

-- Count the runs that a job waits for before its own, in the line of one user: first the jobs of that user, `slots`
-- at a time (NULL: no limit), then everybody's on the queue, as many at a time as its workers run now.
-- who: NULL for the schedule.  step: how far the job would move its user back.  most: nothing is counted beyond it.
-- Returns: the number; infinity for the schedule, for a paused queue, and when the job or the queue is gone.
-- Locks: none.
-- A job that is not in that line is counted where it would be: inside the line by its age, since a wake takes the
-- oldest first, and on the queue where the user's next job would stand.
CREATE OR REPLACE FUNCTION job_turns(job text, who text, queue_name text, slots integer, step integer, most integer)
RETURNS double precision
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    me record;
    which record;
    standing boolean;
    place bigint;
    own bigint;
    ahead bigint;
    workers bigint;
BEGIN
    SELECT m.id, m.queue_id, m.group_name, m.rank, m.is_ready INTO me FROM broker_message m WHERE m.task_id = job;
    SELECT q.id, q.paused_at IS NOT NULL AS paused INTO which FROM broker_queue q WHERE q.name = queue_name;
    IF me.id IS NULL OR who IS NULL OR which.id IS NULL OR which.paused THEN
        RETURN 'infinity';
    END IF;
    standing := coalesce(me.group_name = who, false) AND me.is_ready AND me.queue_id = which.id;
    IF standing THEN
        place := me.rank;
    ELSE
        place := broker_next_rank(which.id, who, step);
    END IF;
    ahead := (SELECT count(*) FROM (
                 SELECT FROM broker_ready r
                  WHERE r.queue_id = which.id AND (r.rank, r.id) < (place, me.id) AND r.id <> me.id
                  LIMIT most) AS before);
    workers := (SELECT count(*) FROM broker_lease l
                 WHERE l.queue_id = which.id AND l.until > now() AND l.started_at IS NOT NULL);
    IF slots IS NULL THEN
        RETURN ahead / greatest(1, workers)::double precision;
    END IF;
    own := (SELECT count(*) FROM execution_slots s
             WHERE s.user_id = who::uuid AND s.service = split_part(queue_name, '_', 1)
               AND EXISTS (SELECT FROM broker_message m
                            WHERE m.task_id = s.job_id::text AND m.lease_token = s.lease_token))
         + (SELECT count(*) FROM (
               SELECT FROM broker_ready r
                WHERE r.queue_id = which.id AND r.tenant = who
                  AND r.id <> me.id AND (NOT standing OR (r.rank, r.id) < (place, me.id)) LIMIT most) AS ready);
    IF NOT standing THEN
        own := own
             + (SELECT count(*) FROM (
                   SELECT FROM broker_waiting w
                    WHERE w.queue_id = which.id AND w.reason = 'parked' AND w.tenant = who
                      AND (w.reason, w.tenant, w.id) < ('parked', who, me.id)
                    LIMIT most) AS parked)
             + (SELECT count(*) FROM (
                   SELECT FROM broker_waiting w
                    WHERE w.queue_id = which.id AND w.reason = 'snooze' AND w.tenant = who
                      AND (w.reason, w.tenant, w.id) < ('snooze', who, me.id)
                    LIMIT most) AS snoozed);
    END IF;
    RETURN own / greatest(1, slots) + ahead / greatest(1, workers)::double precision;
END $$;

-- Put a job that no worker holds into the line of a user: ready there, or parked as an accept would park it.  A job
-- that waits for its time, as after a failed attempt, keeps that time.  The slot of a worker that died under the job
-- is dropped: it belongs to the user who is left.
-- who: NULL for the schedule.  most_ready: with that many of the user's jobs ready already the job is parked; NULL:
-- with any number it is ready.  probe: seconds after which a parked line is tried in any case.
-- Returns: what the job was before, 'ready' or the reason of its delay; NULL when a worker holds it, when it is
-- gone, and when there is no such queue.
-- Locks: the message; the row of the user's parked group, shared.  The caller holds the users rows of both lines.
CREATE OR REPLACE FUNCTION carry_job(
    job text, who text, queue_name text, most_ready integer, step integer, probe double precision
) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    was text := broker_regroup(job, who, queue_name, most_ready, step, probe);
BEGIN
    IF was IS NOT NULL THEN
        DELETE FROM execution_slots WHERE job_id = job::uuid;
    END IF;
    RETURN was;
END $$;
