-- The functions of the service that change: a frozen copy of app/store/sql at this migration.

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
