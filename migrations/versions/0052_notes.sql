-- Notes that reads write and that may be lost; caller_find writes one of them.
CREATE OR REPLACE FUNCTION note_view(codebase uuid, at timestamptz, fresh interval) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'off' THEN
        UPDATE codebases SET last_viewed_at = at
         WHERE id = codebase AND (last_viewed_at IS NULL OR last_viewed_at < at - fresh);
    END IF;
EXCEPTION WHEN insufficient_resources THEN
    NULL;
END $$;

CREATE OR REPLACE FUNCTION note_session(hash bytea, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'off' THEN
        UPDATE sessions SET last_used_at = at WHERE id_hash = hash;
    END IF;
EXCEPTION WHEN insufficient_resources THEN
    NULL;
END $$;

CREATE OR REPLACE FUNCTION note_token(hash bytea, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'off' THEN
        UPDATE api_tokens SET last_used_at = at
         WHERE token_hash = hash AND (last_used_at IS NULL OR last_used_at < at - interval '1 minute');
    END IF;
EXCEPTION WHEN insufficient_resources THEN
    NULL;
END $$;

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

-- Nothing is removed from the log that is older than an account whose address was never verified.
CREATE OR REPLACE FUNCTION audit_log_forget() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    names text[] := ARRAY[OLD.id::text, OLD.email];
    -- An hour: the two instants are of two clocks.
    since timestamptz := CASE WHEN OLD.email_verified_at IS NULL THEN OLD.created_at - interval '1 hour'
                              ELSE '-infinity' END;
    -- Facts are searched as the text of JSON.
    word text := format('(?:%s|%s)', OLD.id,
                        regexp_replace(btrim(to_json(OLD.email)::text, '"'), '([][(){}.*+?^$|\\])', '\\\1', 'g'));
    -- A word may also follow an escape such as \n, and must not begin within one: what is left of a line break before
    -- @example.org would be no JSON.
    pattern text := '(?:(?<![[:alnum:]_.+%-])(?<=(?:^|[^\\])(?:\\\\)*)|(?<=\\[bfnrt]))' || word
                    || '(?![[:alnum:]_@-]|\.[[:alnum:]_])';
BEGIN
    -- The tables of this schema are not on the path.  What stands before a word is slow to look for, 30 us an entry, so
    -- only entries with the word are asked.
    EXECUTE format($statement$
        UPDATE %I.audit_log
           SET actor = CASE WHEN actor = ANY ($1) THEN $3 ELSE actor END,
               subject = CASE WHEN subject = ANY ($1) THEN $3 ELSE subject END,
               facts = regexp_replace(facts::text, $2, $3, 'gi')::jsonb
         WHERE at >= $5
           AND (actor = ANY ($1) OR subject = ANY ($1) OR facts::text ~* $4 AND facts::text ~* $2)$statement$,
                   TG_TABLE_SCHEMA)
      USING names, pattern, 'deleted account', word, since;
    RETURN OLD;
END $$;
