-- The functions that 0027 replaces, as they were before.

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

CREATE OR REPLACE FUNCTION job_line(
    job text, most integer, codebase uuid, commit_id text, parser text,
    OUT paused boolean, OUT held boolean, OUT oldest timestamptz, OUT ahead bigint, OUT own bigint, OUT workers bigint,
    OUT taken bigint, OUT run_seconds double precision, OUT run_deviation double precision, OUT worker_free boolean,
    OUT completed uuid
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    me record;
BEGIN
    SELECT m.id, m.queue_id, m.group_name, m.rank, coalesce(m.ready_at, m.enqueued_at) AS ready_at,
           q.paused_at IS NOT NULL AS paused, coalesce(m.delay_reason IN ('parked', 'snooze'), false) AS held,
           split_part(q.name, '_', 1) AS service
      INTO me FROM broker_message m JOIN broker_queue q ON q.id = m.queue_id WHERE m.task_id = job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    paused := me.paused;
    held := me.held;
    taken := (SELECT count(*) FROM execution_slots s
               WHERE s.user_id = me.group_name::uuid AND s.service = me.service
                 AND EXISTS (SELECT FROM broker_message m
                              WHERE m.task_id = s.job_id::text AND m.lease_token = s.lease_token));
    IF held THEN
        oldest := me.ready_at;
        SELECT count(*) INTO own FROM (
            SELECT FROM broker_message m
             WHERE m.queue_id = me.queue_id AND m.delay_reason = 'parked' AND coalesce(m.group_name, '') = me.group_name
               AND (m.delay_reason, coalesce(m.group_name, ''), m.id) < ('parked', me.group_name, me.id)
             LIMIT most) AS parked;
        own := own + (SELECT count(*) FROM broker_message m
                       WHERE m.queue_id = me.queue_id AND m.delay_reason = 'snooze'
                         AND coalesce(m.group_name, '') = me.group_name
                         AND (m.delay_reason, coalesce(m.group_name, ''), m.id) < ('snooze', me.group_name, me.id))
                   + (SELECT count(*) FROM (
                         SELECT FROM broker_message m
                          WHERE m.queue_id = me.queue_id AND coalesce(m.group_name, '') = me.group_name AND m.is_ready
                            AND m.rank IS NOT NULL LIMIT most) AS ready);
        own := least(own, most);
        ahead := own;
    ELSE
        SELECT coalesce(min(f.ready_at), me.ready_at), count(*), count(*) FILTER (WHERE f.group_name = me.group_name)
          INTO oldest, ahead, own
          FROM (SELECT m.group_name, coalesce(m.ready_at, m.enqueued_at) AS ready_at FROM broker_message m
                 WHERE m.queue_id = me.queue_id AND m.is_ready AND (m.rank, m.id) < (me.rank, me.id)
                 ORDER BY m.rank, m.id LIMIT most) AS f;
        worker_free := ahead = 0 AND kombu_message_wanted(me.queue_id);
    END IF;
    workers := (SELECT count(*) FROM broker_message m WHERE m.queue_id = me.queue_id AND m.started_at IS NOT NULL);
    IF me.service = 'specview' THEN
        SELECT avg(r.seconds), coalesce(stddev_samp(r.seconds), 0) INTO run_seconds, run_deviation
          FROM (SELECT extract(epoch FROM d.completed_at - d.started_at) AS seconds FROM spec_documents d
                 WHERE d.status = 'completed' ORDER BY d.completed_at DESC LIMIT 50) AS r;
    ELSE
        SELECT avg(r.seconds), coalesce(stddev_samp(r.seconds), 0) INTO run_seconds, run_deviation
          FROM (SELECT extract(epoch FROM a.completed_at - a.started_at) AS seconds FROM analyses a
                 WHERE a.status = 'completed' ORDER BY a.completed_at DESC LIMIT 50) AS r;
    END IF;
    IF codebase IS NOT NULL THEN
        completed := (SELECT a.id FROM analyses a
                       WHERE a.codebase_id = codebase AND a.commit_sha = commit_id AND a.parser_version = parser
                         AND a.status = 'completed');
    END IF;
END $$;
