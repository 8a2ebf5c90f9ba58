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
    OUT run_seconds double precision, OUT run_deviation double precision, OUT spec_run_seconds double precision,
    OUT spec_run_deviation double precision, OUT slot_limit integer,
    OUT tier plan_tier, OUT concurrent_jobs integer, OUT analyses_per_period integer, OUT spec_units_per_period integer,
    OUT retention_days integer, OUT scopes text[], OUT wait double precision, OUT remaining integer
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    used_at timestamptz;
BEGIN
    SELECT u.id, u.kind, u.email, u.is_operator, u.is_read_only_operator, coalesce(s.anchor_at, u.created_at),
           u.run_seconds, u.run_deviation, u.spec_run_seconds, u.spec_run_deviation, u.slot_limit,
           p.tier, p.concurrent_jobs, p.analyses_per_period, p.spec_units_per_period, p.retention_days,
           t.scopes, t.last_used_at
      INTO user_id, kind, email, is_operator, is_read_only_operator, anchor_at,
           run_seconds, run_deviation, spec_run_seconds, spec_run_deviation, slot_limit,
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
        PERFORM note_token(hash, at);
    END IF;
    wait := 0;
    IF writes_per_minute IS NOT NULL THEN
        SELECT c.wait, c.remaining INTO wait, remaining
          FROM rate_charge('write:' || user_id, writes_per_minute, 1, 1) AS c;
    END IF;
END $$;

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
