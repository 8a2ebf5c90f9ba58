-- Public keys of people's authenticators (WebAuthn).
CREATE TABLE passkeys (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    credential_id bytea NOT NULL UNIQUE,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL CHECK (sign_count >= 0),
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz
);
CREATE INDEX passkeys_user ON passkeys (user_id);
COMMENT ON COLUMN passkeys.sign_count IS 'of the last use; 0 from authenticators that do not count';

CREATE TABLE github_links (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    github_id bigint NOT NULL UNIQUE,
    login text NOT NULL,
    linked_at timestamptz NOT NULL
);
COMMENT ON COLUMN github_links.github_id IS 'never changes, unlike login, which is only shown';

-- Challenges, states and the secrets of links: each is deleted by its one use.
CREATE TABLE one_time_secrets (
    secret_hash bytea PRIMARY KEY,
    purpose text NOT NULL,
    user_id uuid REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX one_time_secrets_user ON one_time_secrets (user_id);
COMMENT ON COLUMN one_time_secrets.user_id IS 'null for somebody who is not signed in yet';

CREATE TABLE sign_up_days (
    day date PRIMARY KEY,
    accounts integer NOT NULL
);
COMMENT ON TABLE sign_up_days IS 'accounts that people created themselves, by UTC day';

ALTER TABLE users ADD COLUMN email_verified_at timestamptz;
COMMENT ON COLUMN users.email_verified_at IS 'when somebody first proved to read mail to this address; null: never';
