-- The name of a session, to end it; it opens nothing, unlike the secret.  With the column's default at once, the table
-- would be written anew while nobody could read it.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS id uuid, ADD COLUMN IF NOT EXISTS last_used_at timestamptz;
ALTER TABLE sessions ALTER COLUMN id SET DEFAULT gen_random_uuid();
COMMENT ON COLUMN sessions.last_used_at IS 'written at most once a minute; null before the first use after signing in';
