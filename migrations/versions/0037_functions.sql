-- The functions and triggers of the service as they were at 0037.

-- Rate limits: a bucket of tokens per key, which is refilled continuously.
--
-- Each function takes with one statement, since a new bucket has no row that could be locked: a look before the write
-- would let all its first requests pass.  A refused request spends nothing.  The commit does not wait for the disk: a
-- crash of the server may forget the last requests, which harms nobody.

-- Take `cost` tokens from a bucket that holds `per_minute` of them, if it has `needed`.
-- Returns: wait: 0, or the seconds until it has them.  remaining: whole tokens that are left, negative in debt.
-- Locks: the bucket's row.
CREATE OR REPLACE FUNCTION rate_charge(
    bucket text, per_minute double precision, cost double precision, needed double precision,
    OUT wait double precision, OUT remaining integer
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    level double precision;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO rate_buckets AS b (key, tokens, refilled_at) VALUES (bucket, per_minute - cost, clock_timestamp())
    ON CONFLICT (key) DO UPDATE
       SET tokens = least(per_minute, b.tokens
                          + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at)) - cost,
           refilled_at = clock_timestamp()
     WHERE least(per_minute, b.tokens + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at))
           >= needed
    RETURNING b.tokens INTO level;
    wait := 0;
    IF NOT FOUND THEN
        SELECT least(per_minute, b.tokens + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at))
          INTO level FROM rate_buckets b WHERE b.key = bucket;
        -- the bucket may have been refilled in the meantime, but nothing was taken
        wait := greatest(0.001, (needed - level) * 60 / per_minute);
    END IF;
    remaining := floor(level);
END $$;

-- As the releases before 0031 call it: take one token.
-- Returns: the wait of rate_charge.
-- Locks: the bucket's row.
CREATE OR REPLACE FUNCTION rate_take(bucket text, per_minute double precision) RETURNS double precision
LANGUAGE sql AS $$ SELECT wait FROM rate_charge(bucket, per_minute, 1, 1) $$;

-- As the releases before 0031 call it: take more for a request whose first token was taken.
-- Returns: the wait of rate_charge.
-- Locks: the bucket's row.
CREATE OR REPLACE FUNCTION rate_spend(bucket text, per_minute double precision, cost double precision)
RETURNS double precision
LANGUAGE sql AS $$ SELECT wait FROM rate_charge(bucket, per_minute, cost, least(cost, per_minute - 1)) $$;

-- Credentials: who sends a request, and the revocation of tokens that a token has made.

-- Look up the owner of a token with the plan, and take a token of the user's write limit, in one round trip.
-- at: the instant of the request.  writes_per_minute: NULL for a read, which is not limited.
-- Returns: one row.  user_id: NULL when the token is unknown, expired or revoked.  wait: 0, or the seconds until the
-- user may write again.  remaining: writes that are left, NULL for a read.
-- Locks: the token's row, at most once a minute, to note its use; then the row of the user's bucket.
CREATE OR REPLACE FUNCTION caller_find(
    hash bytea, at timestamptz, writes_per_minute double precision,
    OUT user_id uuid, OUT kind text, OUT email text, OUT is_operator boolean,
    OUT is_read_only_operator boolean, OUT anchor_at timestamptz,
    OUT run_seconds double precision, OUT run_deviation double precision, OUT slot_limit integer,
    OUT tier plan_tier, OUT concurrent_jobs integer, OUT analyses_per_period integer, OUT spec_units_per_period integer,
    OUT retention_days integer, OUT scopes text[], OUT wait double precision, OUT remaining integer
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    used_at timestamptz;
BEGIN
    SELECT u.id, u.kind, u.email, u.is_operator, u.is_read_only_operator, coalesce(s.anchor_at, u.created_at),
           u.run_seconds, u.run_deviation, u.slot_limit,
           p.tier, p.concurrent_jobs, p.analyses_per_period, p.spec_units_per_period, p.retention_days,
           t.scopes, t.last_used_at
      INTO user_id, kind, email, is_operator, is_read_only_operator, anchor_at,
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
    wait := 0;
    IF writes_per_minute IS NOT NULL THEN
        SELECT c.wait, c.remaining INTO wait, remaining
          FROM rate_charge('write:' || user_id, writes_per_minute, 1, 1) AS c;
    END IF;
END $$;

-- The same, as the releases before 0031 call it.
-- Returns, Locks: the same.
CREATE OR REPLACE FUNCTION caller_look(
    hash bytea, at timestamptz, writes_per_minute double precision,
    OUT user_id uuid, OUT kind text, OUT email text, OUT is_operator boolean, OUT anchor_at timestamptz,
    OUT run_seconds double precision, OUT run_deviation double precision, OUT slot_limit integer,
    OUT tier plan_tier, OUT concurrent_jobs integer, OUT analyses_per_period integer, OUT spec_units_per_period integer,
    OUT retention_days integer, OUT scopes text[], OUT wait double precision
) LANGUAGE sql AS $$
    SELECT c.user_id, c.kind, c.email, c.is_operator, c.anchor_at, c.run_seconds, c.run_deviation, c.slot_limit,
           c.tier, c.concurrent_jobs, c.analyses_per_period, c.spec_units_per_period, c.retention_days, c.scopes, c.wait
      FROM caller_find(hash, at, writes_per_minute) AS c
$$;

-- Revoke all tokens that a revoked token has made, directly or through others (docs/adr/0018).  It is a trigger, so
-- that a revocation by hand counts as well.  One statement revokes all levels: a trigger for each level would exceed
-- the stack in a long chain of tokens.
-- Locks: the rows of those tokens.
CREATE OR REPLACE FUNCTION api_tokens_revoke_below() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH RECURSIVE below AS (
        SELECT t.id FROM api_tokens t WHERE t.parent_id = NEW.id
        UNION
        SELECT t.id FROM api_tokens t JOIN below b ON t.parent_id = b.id
    )
    UPDATE api_tokens t SET revoked_at = NEW.revoked_at FROM below b WHERE t.id = b.id AND t.revoked_at IS NULL;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER api_tokens_revoke_below AFTER UPDATE OF revoked_at ON api_tokens FOR EACH ROW
WHEN (pg_trigger_depth() = 0 AND OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
EXECUTE FUNCTION api_tokens_revoke_below();

-- The look of an accept: all that it must know before it decides.

-- Claim the idempotency key, hold the user, and read account, plan, repository, commit and quota, in one round trip.
-- at: the instant of the accept; job_key: the unique key of the commit's message; parser: the present parser
-- version.
-- Returns: one row.  claimed: whether no other request with this key is under way; with another under way, or with an
-- answer stored under the key, nothing else is read or locked.  user_id: NULL when the account is gone.  running,
-- completed, failed: the jobs of the commit; `failed` is the newest one, if that failed.  used, reserved, period_*:
-- NULL where the quota does not matter, which is without a limit, and for a commit that is running or completed.  The
-- period is computed as in app/domain/periods.py; the caller compares it with its own, and ignores sums of another
-- one.
-- Locks: the key's advisory lock until the end of the transaction, if it is free; then the users row.  Each statement
-- of a volatile function sees what was committed before it began, so the stored answer is read after the claim, and
-- the rest after the lock on the user.  One statement reads the commit's jobs, so that a job is seen either as
-- running or as ended, and never as neither.
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

-- Waking what waits for a slot of its user.

-- Make the oldest waiting jobs of a user and service ready, `most` of them, on whichever queues of the service they
-- are: after a change of tier a user has jobs on two.  `step`: how far each moves its user back in the fair order.
-- Returns: the ids of the jobs.
-- Locks: their messages, skipping locked ones; the rows of parked groups, as broker_wake says.
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

-- How long the messages of a queue wait.

-- Find the oldest message of a queue that waits for a slot of its own user: one that is parked or snoozed.
-- most: how many users are looked at, for the parked and for the snoozed messages each.
-- Returns: when that message was enqueued, NULL if none waits so; whether all such users were looked at.
-- Locks: none.
-- The index is sorted by user and then by age, so each step finds the next user together with that user's oldest
-- message.  That costs 10 µs for each user, however many messages there are (measured 2026-11-23 with 1,000,000
-- messages of 5,000 users).
CREATE OR REPLACE FUNCTION queue_parked_since(
    which integer, most integer, OUT since timestamptz, OUT complete boolean
) LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    reason text;
    one record;
    last text;
BEGIN
    complete := true;
    FOREACH reason IN ARRAY ARRAY['parked', 'snooze'] LOOP
        last := '';  -- which is no user
        FOR looked IN 0..most LOOP
            SELECT coalesce(m.group_name, '') AS name, m.enqueued_at INTO one FROM broker_message m
             WHERE m.queue_id = which AND m.delay_reason = reason AND coalesce(m.group_name, '') > last
             ORDER BY coalesce(m.group_name, ''), m.id LIMIT 1;
            EXIT WHEN NOT FOUND;
            IF looked = most THEN
                complete := false;
                EXIT;
            END IF;
            since := least(since, one.enqueued_at);
            last := one.name;
        END LOOP;
    END LOOP;
END $$;

-- The place of a job that waits, and what an estimate of its wait needs.

-- Count what an unfinished job waits for, and read how long such jobs took, in one round trip.
-- most: nothing is counted beyond it.  codebase, commit_id, parser: the commit that `completed` is asked for, or
-- NULL.
-- Returns: one row, of NULLs when the job's message is gone.  held: the job is parked or snoozed, and waits behind
-- its user's own only: `own` counts those, and `ahead` is the same.  Of a job that is ready, `ahead` counts all that
-- are ranked before it, and `own` the user's among them.  oldest: since when the first of them is ready.  workers:
-- jobs of the queue that run.  taken: slots of the user that are in use.  run_seconds, run_deviation: of the 50 newest
-- jobs of the service.  worker_free: a node that sleeps has a process to spare; it is asked for the first job in line
-- only.  completed: an analysis of the commit by this parser.
-- Locks: for the first job in line the advisory lock of a publisher, shared, until the end of the transaction.
-- The row comparisons are of the index's columns: for a plain comparison of ids the planner takes the primary key,
-- and reads all that is older.  As statements of the application, which are planned each time, this took 0.15 ms of
-- every accept.
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
        worker_free := ahead = 0 AND broker_is_node_idle(me.queue_id);
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

-- The same, as the release before 0028 calls it.
-- Returns, Locks: the same.
CREATE OR REPLACE FUNCTION carry_job(
    job text, who text, queue_name text, most_ready integer, step integer, probe double precision, channel text
) RETURNS text
LANGUAGE sql AS $$ SELECT carry_job(job, who, queue_name, most_ready, step, probe) $$;

-- What webhooks are told.

-- Make a delivery for each webhook that is to be told of the end of a job: those of the users who asked for the job and
-- did not leave it.  A trigger, because a job may end in many ways, and because its plan is kept for the session; only
-- the final events call it (docs/adr/0054).  Returns: nothing.  Locks: nothing but its new rows.
CREATE OR REPLACE FUNCTION webhooks_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, event_id, job_id, type, happened_at, due_at)
    SELECT w.id, NEW.id, NEW.job_id, told.type, NEW.at, NEW.at
      FROM analysis_requests r
      JOIN webhooks w ON w.user_id = r.user_id
     CROSS JOIN LATERAL (SELECT CASE r.service WHEN 'specview' THEN 'specification.' ELSE 'analysis.' END
                                || NEW.event AS type) AS told
     WHERE r.job_id = NEW.job_id AND w.disabled_at IS NULL AND told.type = ANY (w.events)
       -- the payer who left, like the payer of a cancelled job, has an accept record with the time of that
       AND r.role <> 'left' AND (r.cancelled_at IS NULL OR NEW.event = 'cancelled')
        ON CONFLICT (webhook_id, event_id) DO NOTHING;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER job_events_tell_webhooks AFTER INSERT ON job_events
    FOR EACH ROW WHEN (NEW.event IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION webhooks_tell();
