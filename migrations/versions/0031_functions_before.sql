-- The functions that 0031 replaced, as they were.

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
