-- Of people who sign in with a password.  A table of its own: no statement that reads an account reads a hash.
CREATE TABLE passwords (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    hash text NOT NULL,
    changed_at timestamptz NOT NULL
);
COMMENT ON COLUMN passwords.hash IS 'argon2id, with its parameters and its salt';
