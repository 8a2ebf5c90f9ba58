CREATE OR REPLACE FUNCTION accept_look(
    who uuid, idempotency_key text, git_host text, git_owner text, git_name text, commit_id text, job_key text,
    parser text, at timestamptz,
    OUT claimed boolean, OUT fingerprint bytea, OUT answer_status integer, OUT answer_body jsonb,
    OUT user_id uuid, OUT kind text, OUT email text, OUT is_operator boolean, OUT anchor_at timestamptz,
    OUT run_seconds double precision, OUT run_deviation double precision, OUT slot_limit integer,
    OUT tier plan_tier, OUT concurrent_jobs integer, OUT analyses_per_period integer, OUT spec_units_per_period integer,
    OUT retention_days integer,
    OUT codebase_id uuid, OUT host text, OUT owner text, OUT name text, OUT is_private boolean,
    OUT last_viewed_at timestamptz, OUT running uuid, OUT completed uuid, OUT failed uuid,
    OUT used bigint, OUT reserved bigint, OUT period_start timestamptz, OUT period_end timestamptz
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
    IF idempotency_key IS NOT NULL THEN
        -- a twin that is being answered holds this lock until its commit; its client is told so, and need not wait
        claimed := pg_try_advisory_xact_lock(hashtextextended(who || ' ' || idempotency_key, 0));
        IF NOT claimed THEN
            RETURN;
        END IF;
        SELECT k.fingerprint, k.status, k.body INTO fingerprint, answer_status, answer_body
          FROM idempotency_keys k WHERE k.user_id = who AND k.key = idempotency_key;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    PERFORM FROM users u WHERE u.id = who FOR NO KEY UPDATE;
    SELECT u.id, u.kind, u.email, u.is_operator, coalesce(s.anchor_at, u.created_at),
           u.run_seconds, u.run_deviation, u.slot_limit,
           p.tier, p.concurrent_jobs, p.analyses_per_period, p.spec_units_per_period, p.retention_days
      INTO user_id, kind, email, is_operator, anchor_at,
           run_seconds, run_deviation, slot_limit,
           tier, concurrent_jobs, analyses_per_period, spec_units_per_period, retention_days
      FROM users u
      LEFT JOIN user_subscriptions s ON s.user_id = u.id AND s.status = 'active'
      JOIN subscription_plans p ON p.tier = coalesce(s.tier, 'free')
     WHERE u.id = who;
    SELECT c.id, c.host, c.owner, c.name, c.is_private, c.last_viewed_at,
           (SELECT m.task_id::uuid FROM broker_message m WHERE m.unique_key = job_key),
           (SELECT a.id FROM analyses a
             WHERE a.codebase_id = c.id AND a.commit_sha = commit_id AND a.parser_version = parser
               AND a.status = 'completed'),
           (SELECT CASE WHEN a.status = 'failed' THEN a.id END FROM analyses a
             WHERE a.codebase_id = c.id AND a.commit_sha = commit_id AND a.parser_version = parser
             ORDER BY a.started_at DESC LIMIT 1)
      INTO codebase_id, host, owner, name, is_private, last_viewed_at, running, completed, failed
      FROM codebases c
     WHERE c.host = git_host AND lower(c.owner) = lower(git_owner) AND lower(c.name) = lower(git_name);
    IF analyses_per_period IS NOT NULL AND running IS NULL AND completed IS NULL THEN
        SELECT p.start, p.until,
               usage_used(who, 'analysis', p.start, p.until),
               (SELECT coalesce(sum(r.reserved_amount), 0) FROM quota_reservations r
                 WHERE r.user_id = who AND r.event_type = 'analysis')
          INTO period_start, period_end, used, reserved
          FROM (SELECT CAST((extract(year FROM at) - extract(year FROM anchor_at)) * 12
                            + extract(month FROM at) - extract(month FROM anchor_at) AS integer) AS months) AS calendar,
               LATERAL (SELECT months - (anchor_at + make_interval(months => months) > at)::int AS k) AS whole,
               LATERAL (SELECT anchor_at + make_interval(months => k) AS start,
                               anchor_at + make_interval(months => k + 1) AS until) AS p;
    END IF;
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
    SELECT m.id, m.queue_id, m.group_name, r.rank, coalesce(r.since, w.due_at, m.enqueued_at) AS ready_at,
           q.paused_at IS NOT NULL AS paused, coalesce(w.reason IN ('parked', 'snooze'), false) AS held,
           split_part(q.name, '_', 1) AS service
      INTO me FROM broker_message m JOIN broker_queue q ON q.id = m.queue_id
      LEFT JOIN broker_ready r ON r.id = m.id LEFT JOIN broker_waiting w ON w.id = m.id WHERE m.task_id = job;
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
            SELECT FROM broker_waiting w
             WHERE w.queue_id = me.queue_id AND w.reason = 'parked' AND w.tenant = me.group_name
               AND (w.reason, w.tenant, w.id) < ('parked', me.group_name, me.id)
             LIMIT most) AS parked;
        own := own + (SELECT count(*) FROM broker_waiting w
                       WHERE w.queue_id = me.queue_id AND w.reason = 'snooze' AND w.tenant = me.group_name
                         AND (w.reason, w.tenant, w.id) < ('snooze', me.group_name, me.id))
                   + (SELECT count(*) FROM (
                         SELECT FROM broker_ready r
                          WHERE r.queue_id = me.queue_id AND r.tenant = me.group_name LIMIT most) AS ready);
        own := least(own, most);
        ahead := own;
    ELSE
        SELECT coalesce(min(f.ready_at), me.ready_at), count(*), count(*) FILTER (WHERE f.tenant = me.group_name)
          INTO oldest, ahead, own
          FROM (SELECT r.tenant, r.since AS ready_at FROM broker_ready r
                 WHERE r.queue_id = me.queue_id AND (r.rank, r.id) < (me.rank, me.id)
                 ORDER BY r.rank, r.id LIMIT most) AS f;
        worker_free := ahead = 0 AND broker_is_node_idle(me.queue_id);
    END IF;
    workers := (SELECT count(*) FROM broker_lease l
                 WHERE l.queue_id = me.queue_id AND l.until > now() AND l.started_at IS NOT NULL);
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
