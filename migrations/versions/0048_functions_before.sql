-- As the releases before 0031 call them.

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
