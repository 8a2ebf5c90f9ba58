-- Of people who sign in with a password.  A table of its own: no statement that reads an account reads a hash.
CREATE TABLE passwords (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    hash text NOT NULL,
    changed_at timestamptz NOT NULL
);
COMMENT ON COLUMN passwords.hash IS 'argon2id, with its parameters and its salt';

-- The name of a session, to end it; it opens nothing, unlike the secret.
ALTER TABLE sessions ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(), ADD COLUMN last_used_at timestamptz;
COMMENT ON COLUMN sessions.last_used_at IS 'written at most once a minute; null before the first use after signing in';
