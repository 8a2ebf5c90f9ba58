-- In whose line a job waits that several users asked for.

-- Count the runs that a job waits for before its own, in the line of one user: first the jobs of that user, `slots`
-- at a time (NULL: no limit), then everybody's on the queue, as many at a time as its workers run now.
-- who: NULL for the schedule.  step: how far the job would move its user back.  most: nothing is counted beyond it.
-- Returns: the number; infinity for the schedule, for a paused queue, and when the job or the queue is gone.
-- Locks: none.
-- A job that is not in that line is counted where it would be: inside the line by its age, since a wake takes the
-- oldest first, and on the queue where the user's next job would stand.  That place is a rule of the broker which its
-- interface does not tell: hence kombu_message_rank and kombu_group.
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
        place := greatest(kombu_message_rank(which.id, who, step),
                          (SELECT g.rank FROM kombu_group g WHERE g.queue_id = which.id AND g.name = who));
    END IF;
    ahead := (SELECT count(*) FROM (
                 SELECT FROM broker_message m
                  WHERE m.queue_id = which.id AND m.is_ready AND (m.rank, m.id) < (place, me.id) AND m.id <> me.id
                  LIMIT most) AS before);
    workers := (SELECT count(*) FROM broker_message m WHERE m.queue_id = which.id AND m.started_at IS NOT NULL);
    IF slots IS NULL THEN
        RETURN ahead / greatest(1, workers)::double precision;
    END IF;
    own := (SELECT count(*) FROM execution_slots s
             WHERE s.user_id = who::uuid AND s.service = split_part(queue_name, '_', 1)
               AND EXISTS (SELECT FROM broker_message m
                            WHERE m.task_id = s.job_id::text AND m.lease_token = s.lease_token))
         + (SELECT count(*) FROM (
               SELECT FROM broker_message m
                WHERE m.queue_id = which.id AND coalesce(m.group_name, '') = who AND m.is_ready AND m.rank IS NOT NULL
                  AND m.id <> me.id AND (NOT standing OR (m.rank, m.id) < (place, me.id)) LIMIT most) AS ready);
    IF NOT standing THEN
        own := own
             + (SELECT count(*) FROM (
                   SELECT FROM broker_message m
                    WHERE m.queue_id = which.id AND m.delay_reason = 'parked' AND coalesce(m.group_name, '') = who
                      AND (m.delay_reason, coalesce(m.group_name, ''), m.id) < ('parked', who, me.id)
                    LIMIT most) AS parked)
             + (SELECT count(*) FROM (
                   SELECT FROM broker_message m
                    WHERE m.queue_id = which.id AND m.delay_reason = 'snooze' AND coalesce(m.group_name, '') = who
                      AND (m.delay_reason, coalesce(m.group_name, ''), m.id) < ('snooze', who, me.id)
                    LIMIT most) AS snoozed);
    END IF;
    RETURN own / greatest(1, slots) + ahead / greatest(1, workers)::double precision;
END $$;

-- Put a job that no worker holds into the line of a user: ready there, or parked as an accept would park it.  A job
-- that waits for its time, as after a failed attempt, keeps that time.  The slot of a worker that died under the job
-- is dropped: it belongs to the user who is left.
-- who: NULL for the schedule.  most_ready: with that many of the user's jobs ready already the job is parked; NULL:
-- with any number it is ready.  probe: seconds after which a parked line is tried in any case.  channel:
-- broker_channel().
-- Returns: what the job was before, 'ready' or the reason of its delay; NULL when a worker holds it, when it is
-- gone, and when there is no such queue.
-- Locks: the message; the row of the user's parked group, shared.  The caller holds the users rows of both lines.
-- It names kombu_* because it is a rule of the broker that the interface does not offer: to move one message to
-- another group.  It runs when a shared job changes hands, which is on no hot path.
CREATE OR REPLACE FUNCTION carry_job(
    job text, who text, queue_name text, most_ready integer, step integer, probe double precision, channel text
) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    me record;
    which integer := (SELECT id FROM kombu_queue WHERE name = queue_name);
    reason text;
BEGIN
    SELECT m.id, coalesce(m.delay_reason, 'ready') AS was INTO me FROM kombu_message m
     WHERE m.task_id = job AND m.lease_token IS NULL
       AND (m.visible AND m.rank IS NOT NULL OR m.delay_reason IS NOT NULL)
       FOR NO KEY UPDATE;
    IF me.id IS NULL OR which IS NULL THEN
        RETURN NULL;
    END IF;
    IF me.was IN ('retry', 'eta') THEN
        reason := me.was;
    ELSIF who IS NOT NULL THEN
        PERFORM FROM kombu_group WHERE queue_id = which AND name = who FOR KEY SHARE SKIP LOCKED;
        reason := CASE WHEN FOUND THEN 'parked' END;
        IF reason IS NULL AND most_ready <= (
            SELECT count(*) FROM (
                SELECT FROM kombu_message WHERE queue_id = which AND coalesce(user_id, '') = who AND visible
                   AND rank IS NOT NULL LIMIT most_ready) AS ready) THEN
            reason := 'parked';
            INSERT INTO kombu_group (queue_id, name, probe_at, probe_seconds, rank)
            VALUES (which, who, clock_timestamp() + make_interval(secs => probe), probe,
                    kombu_message_rank(which, who, step))
            ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    UPDATE kombu_message
       SET queue_id = which, user_id = who, rank_step = step, delay_reason = reason, visible = reason IS NULL,
           visible_at = CASE WHEN reason IS NULL THEN clock_timestamp() WHEN reason <> 'parked' THEN visible_at END,
           rank = CASE WHEN reason IS NULL THEN kombu_message_rank(which, who, step) END
     WHERE id = me.id;
    DELETE FROM execution_slots WHERE job_id = job::uuid;
    IF reason IS DISTINCT FROM 'parked' THEN
        PERFORM pg_notify(channel, queue_name);
    END IF;
    RETURN me.was;
END $$;
