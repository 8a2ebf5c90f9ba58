-- The functions of the service that change: a frozen copy of app/store/sql at this migration.

CREATE OR REPLACE FUNCTION rate_take(bucket text, per_minute double precision) RETURNS double precision
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO rate_buckets AS b (key, tokens, refilled_at) VALUES (bucket, per_minute - 1, clock_timestamp())
    ON CONFLICT (key) DO UPDATE
       SET tokens = least(per_minute, b.tokens
                          + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at)) - 1,
           refilled_at = clock_timestamp()
     WHERE least(per_minute, b.tokens + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at)) >= 1;
    IF FOUND THEN
        RETURN 0;
    END IF;
    -- the bucket may have been refilled in the meantime, but nothing was taken
    RETURN (
        SELECT greatest(0.001, (1 - least(per_minute, b.tokens + per_minute / 60
                                          * extract(epoch FROM clock_timestamp() - b.refilled_at))) * 60 / per_minute)
          FROM rate_buckets b WHERE b.key = bucket);
END $$;

CREATE OR REPLACE FUNCTION rate_spend(bucket text, per_minute double precision, cost double precision)
RETURNS double precision
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO rate_buckets AS b (key, tokens, refilled_at) VALUES (bucket, per_minute - cost, clock_timestamp())
    ON CONFLICT (key) DO UPDATE
       SET tokens = least(per_minute, b.tokens
                          + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at)) - cost,
           refilled_at = clock_timestamp()
     WHERE least(per_minute, b.tokens + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at))
           >= least(cost, per_minute - 1);
    IF FOUND THEN
        RETURN 0;
    END IF;
    -- the bucket may have been refilled in the meantime, but nothing was taken
    RETURN (
        SELECT greatest(0.001, (least(cost, per_minute - 1)
                                - least(per_minute, b.tokens + per_minute / 60
                                        * extract(epoch FROM clock_timestamp() - b.refilled_at))) * 60 / per_minute)
          FROM rate_buckets b WHERE b.key = bucket);
END $$;

CREATE OR REPLACE FUNCTION caller_look(
    hash bytea, at timestamptz, writes_per_minute double precision,
    OUT user_id uuid, OUT kind text, OUT email text, OUT is_operator boolean, OUT anchor_at timestamptz,
    OUT run_seconds double precision, OUT run_deviation double precision, OUT slot_limit integer,
    OUT tier plan_tier, OUT concurrent_jobs integer, OUT analyses_per_period integer, OUT spec_units_per_period integer,
    OUT retention_days integer, OUT scopes text[], OUT wait double precision
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    used_at timestamptz;
BEGIN
    SELECT u.id, u.kind, u.email, u.is_operator, coalesce(s.anchor_at, u.created_at),
           u.run_seconds, u.run_deviation, u.slot_limit,
           p.tier, p.concurrent_jobs, p.analyses_per_period, p.spec_units_per_period, p.retention_days,
           t.scopes, t.last_used_at
      INTO user_id, kind, email, is_operator, anchor_at,
           run_seconds, run_deviation, slot_limit,
           tier, concurrent_jobs, analyses_per_period, spec_units_per_period, retention_days, scopes, used_at
      FROM api_tokens t
      JOIN users u ON u.id = t.user_id
      LEFT JOIN user_subscriptions s ON s.user_id = u.id AND s.status = 'active'
      JOIN subscription_plans p ON p.tier = coalesce(s.tier, 'free')
     WHERE t.token_hash = hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > at);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- at most once a minute: a busy token must not turn each read into a write
    IF coalesce(used_at < at - interval '1 minute', true) THEN
        UPDATE api_tokens t SET last_used_at = at
         WHERE t.token_hash = hash AND (t.last_used_at IS NULL OR t.last_used_at < at - interval '1 minute');
    END IF;
    wait := CASE WHEN writes_per_minute IS NULL THEN 0 ELSE rate_take('write:' || user_id, writes_per_minute) END;
END $$;

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
    PERFORM FROM users u WHERE u.id = who FOR UPDATE;
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
               (SELECT coalesce(sum(e.quota_amount), 0) FROM usage_events e
                 WHERE e.user_id = who AND e.event_type = 'analysis'
                   AND e.accepted_at >= p.start AND e.accepted_at < p.until),
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

CREATE OR REPLACE FUNCTION wake_user(who text, service text, most integer, step integer) RETURNS SETOF uuid
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    one record;
    woken text;
    left_over integer := most;
BEGIN
    FOR one IN
        SELECT q.name FROM broker_queue q, LATERAL (
            SELECT least(
                (SELECT m.id FROM broker_message m WHERE m.queue_id = q.id AND m.delay_reason = 'parked'
                    AND coalesce(m.group_name, '') = who ORDER BY m.id LIMIT 1),
                (SELECT m.id FROM broker_message m WHERE m.queue_id = q.id AND m.delay_reason = 'snooze'
                    AND coalesce(m.group_name, '') = who ORDER BY m.id LIMIT 1)) AS id) AS oldest
         WHERE starts_with(q.name, service || '_')
           AND (oldest.id IS NOT NULL OR EXISTS (SELECT FROM broker_group g WHERE g.queue_id = q.id AND g.name = who))
         ORDER BY oldest.id
    LOOP
        -- with none left over this only forgets a group of which nothing waits
        FOR woken IN SELECT * FROM broker_wake(one.name, who, left_over, step) LOOP
            left_over := left_over - 1;
            RETURN NEXT woken::uuid;
        END LOOP;
    END LOOP;
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
