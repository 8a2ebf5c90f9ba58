"""Who calls and how often, in one message; and the look of an accept with the sums of the quota.

The period is that of app/domain/periods.py, who asks compares: sums of another period are not used.
"""

from importlib import import_module

from alembic import op

revision = "0012"
down_revision = "0011"

SETTINGS = "SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off"

# One statement takes, as a bucket that is new has no row to lock: to look first would let all its first requests pass.
# A refused request spends nothing.
LEVEL = "least(per_minute, b.tokens + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at))"
TAKE = f"""
CREATE FUNCTION rate_take(bucket text, per_minute double precision) RETURNS double precision
LANGUAGE plpgsql {SETTINGS} AS $$
BEGIN
    -- a crash of the server may forget the last requests, which harms nobody; a wait for the disk at each would
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO rate_buckets AS b (key, tokens, refilled_at) VALUES (bucket, per_minute - 1, clock_timestamp())
    ON CONFLICT (key) DO UPDATE SET tokens = {LEVEL} - 1, refilled_at = clock_timestamp() WHERE {LEVEL} >= 1;
    IF FOUND THEN
        RETURN 0;
    END IF;
    -- it may have filled up since, yet nothing was taken
    RETURN (SELECT greatest(0.001, (1 - {LEVEL}) * 60 / per_minute) FROM rate_buckets b WHERE b.key = bucket);
END $$"""

CALLER = f"""
CREATE FUNCTION caller_look(
    hash bytea, at timestamptz, writes_per_minute double precision,
    OUT user_id uuid, OUT kind text, OUT email text, OUT is_operator boolean, OUT anchor_at timestamptz,
    OUT run_seconds double precision, OUT run_deviation double precision,
    OUT tier plan_tier, OUT concurrent_jobs integer, OUT analyses_per_period integer, OUT spec_units_per_period integer,
    OUT retention_days integer, OUT scopes text[], OUT wait double precision
) LANGUAGE plpgsql {SETTINGS} AS $$
#variable_conflict use_column
DECLARE
    used_at timestamptz;
BEGIN
    SELECT u.id, u.kind, u.email, u.is_operator, coalesce(s.anchor_at, u.created_at), u.run_seconds, u.run_deviation,
           p.tier, p.concurrent_jobs, p.analyses_per_period, p.spec_units_per_period, p.retention_days,
           t.scopes, t.last_used_at
      INTO user_id, kind, email, is_operator, anchor_at, run_seconds, run_deviation,
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
END $$"""

LOOK = f"""
CREATE FUNCTION accept_look(
    who uuid, idempotency_key text, git_host text, git_owner text, git_name text, commit_id text, job_key text,
    parser text, at timestamptz,
    OUT claimed boolean, OUT fingerprint bytea, OUT answer_status integer, OUT answer_body jsonb,
    OUT user_id uuid, OUT kind text, OUT email text, OUT is_operator boolean, OUT anchor_at timestamptz,
    OUT run_seconds double precision, OUT run_deviation double precision,
    OUT tier plan_tier, OUT concurrent_jobs integer, OUT analyses_per_period integer, OUT spec_units_per_period integer,
    OUT retention_days integer,
    OUT codebase_id uuid, OUT host text, OUT owner text, OUT name text, OUT is_private boolean,
    OUT last_viewed_at timestamptz, OUT running uuid, OUT completed uuid, OUT failed uuid,
    OUT used bigint, OUT reserved bigint, OUT period_start timestamptz, OUT period_end timestamptz
) LANGUAGE plpgsql {SETTINGS} AS $$
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
    SELECT u.id, u.kind, u.email, u.is_operator, coalesce(s.anchor_at, u.created_at), u.run_seconds, u.run_deviation,
           p.tier, p.concurrent_jobs, p.analyses_per_period, p.spec_units_per_period, p.retention_days
      INTO user_id, kind, email, is_operator, anchor_at, run_seconds, run_deviation,
           tier, concurrent_jobs, analyses_per_period, spec_units_per_period, retention_days
      FROM users u
      LEFT JOIN user_subscriptions s ON s.user_id = u.id AND s.status = 'active'
      JOIN subscription_plans p ON p.tier = coalesce(s.tier, 'free')
     WHERE u.id = who;
    SELECT c.id, c.host, c.owner, c.name, c.is_private, c.last_viewed_at,
           (SELECT m.task_id::uuid FROM kombu_message m WHERE m.unique_key = job_key),
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
END $$"""


def upgrade() -> None:
    op.execute("DROP FUNCTION accept_look")
    for function in (TAKE, CALLER, LOOK):
        op.execute(function)


def downgrade() -> None:
    op.execute("DROP FUNCTION caller_look, rate_take, accept_look")
    op.execute(import_module("migrations.versions.0009_accept_functions").LOOK)
