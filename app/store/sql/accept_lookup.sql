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
               AND a.status = 'completed' AND a.duplicate_of IS NULL),
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
