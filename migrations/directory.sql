-- Which account lives in which cell.  In a database of its own, or in a schema of a cell's; nothing else refers to it.
CREATE SCHEMA directory;

CREATE TABLE directory.accounts (
    user_id uuid PRIMARY KEY,
    cell text NOT NULL,
    epoch bigint NOT NULL DEFAULT 1,
    moving_to text,
    address_digest bytea NOT NULL CONSTRAINT accounts_address UNIQUE,
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    moved_at timestamptz,
    CONSTRAINT accounts_moving CHECK (moving_to <> cell)
);
COMMENT ON COLUMN directory.accounts.epoch IS 'grows with each move that begins; a cell takes an account once for each';
COMMENT ON COLUMN directory.accounts.address_digest IS 'SHA-256 of the e-mail address in lower case; one account has it';
CREATE INDEX accounts_of_cell ON directory.accounts (cell, user_id);
CREATE INDEX accounts_moving ON directory.accounts (user_id) WHERE moving_to IS NOT NULL;

-- Learned when a key is first used, and may be deleted at any time: the cells are asked again.
CREATE TABLE directory.keys (
    hash bytea PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES directory.accounts ON DELETE CASCADE,
    learned_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON COLUMN directory.keys.hash IS 'SHA-256 of a token, a session or the secret of a link';
CREATE INDEX keys_user ON directory.keys (user_id);
CREATE INDEX keys_age ON directory.keys (learned_at);
