-- The functions as they were before.

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

-- carry_job, as the release before 0028 calls it.
-- Returns, Locks: the same.
CREATE OR REPLACE FUNCTION carry_job(
    job text, who text, queue_name text, most_ready integer, step integer, probe double precision, channel text
) RETURNS text
LANGUAGE sql AS $$ SELECT carry_job(job, who, queue_name, most_ready, step, probe) $$;

-- Of celery-durable, at version 4 of its schema.
CREATE OR REPLACE FUNCTION kombu_message_park(
    queue_name text, flow text, seconds double precision, task text DEFAULT NULL
) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    which integer := (SELECT id FROM kombu_queue WHERE name = queue_name);
    chosen bigint[];
    parked integer;
    unspent bigint := (SELECT rank FROM kombu_message WHERE task_id = task);
BEGIN
    SELECT array_agg(id), least(min(rank), unspent) INTO chosen, unspent FROM (
        SELECT id, rank FROM kombu_message
         WHERE queue_id = which AND coalesce(user_id, '') = flow AND visible AND rank IS NOT NULL
         ORDER BY rank DESC LIMIT 10000 FOR NO KEY UPDATE SKIP LOCKED) AS ready;
    INSERT INTO kombu_group AS g (queue_id, name, probe_at, probe_seconds, rank)
    SELECT which, flow, clock_timestamp() + make_interval(secs => seconds), seconds, unspent WHERE which IS NOT NULL
    ON CONFLICT (queue_id, name) DO UPDATE
       SET probe_at = excluded.probe_at, probe_seconds = excluded.probe_seconds, rank = least(g.rank, excluded.rank);
    UPDATE kombu_message SET visible = false, visible_at = NULL, delay_reason = 'parked', rank = NULL
     WHERE id = ANY (chosen);
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN parked;
END $$;
