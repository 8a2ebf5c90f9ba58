-- Notes of what was used and viewed.  Reads write them at most once a minute, and they may be lost: a database that is
-- read-only, or whose disk is full, still answers reads.

-- Note that somebody viewed a result of a repository.  fresh: how old a note may be that is left as it is.
-- Returns: nothing.  Locks: the repository's row, if it writes.
CREATE OR REPLACE FUNCTION note_view(codebase uuid, at timestamptz, fresh interval) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'off' THEN
        UPDATE codebases SET last_viewed_at = at
         WHERE id = codebase AND (last_viewed_at IS NULL OR last_viewed_at < at - fresh);
    END IF;
EXCEPTION WHEN insufficient_resources THEN
    NULL;
END $$;

-- Note the use of a session.  Returns: nothing.  Locks: its row.
CREATE OR REPLACE FUNCTION note_session(hash bytea, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'off' THEN
        UPDATE sessions SET last_used_at = at WHERE id_hash = hash;
    END IF;
EXCEPTION WHEN insufficient_resources THEN
    NULL;
END $$;

-- Note the use of a token.  Returns: nothing.  Locks: its row, if it writes.
CREATE OR REPLACE FUNCTION note_token(hash bytea, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'off' THEN
        UPDATE api_tokens SET last_used_at = at
         WHERE token_hash = hash AND (last_used_at IS NULL OR last_used_at < at - interval '1 minute');
    END IF;
EXCEPTION WHEN insufficient_resources THEN
    NULL;
END $$;
