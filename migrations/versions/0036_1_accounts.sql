CREATE TYPE plan_tier AS ENUM ('free', 'pro', 'pro_plus', 'enterprise');
CREATE TYPE usage_event_type AS ENUM ('analysis', 'specview');

CREATE TABLE users (
    id uuid PRIMARY KEY,
    kind text NOT NULL DEFAULT 'person' CHECK (kind IN ('person', 'anonymous')),
    email text,
    is_operator boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    run_seconds double precision,
    run_deviation double precision,
    slot_limit integer CHECK (slot_limit BETWEEN 1 AND 1000),
    spec_run_seconds double precision,
    spec_run_deviation double precision,
    is_read_only_operator boolean NOT NULL DEFAULT false,
    email_verified_at timestamptz,
    CONSTRAINT users_person_has_email CHECK ((kind = 'person') = (email IS NOT NULL))
);
COMMENT ON COLUMN users.run_seconds IS 'moving mean of how long the user''s jobs held a slot; null before the first';
COMMENT ON COLUMN users.run_deviation IS 'moving mean of its absolute error';
COMMENT ON COLUMN users.slot_limit IS 'jobs of each service that may run at once, set by an operator; null: as the tier';
COMMENT ON COLUMN users.is_read_only_operator IS
    'sees what operators see and changes nothing; without effect for an operator';
COMMENT ON COLUMN users.email_verified_at IS 'when somebody first proved to read mail to this address; null: never';
CREATE UNIQUE INDEX users_email ON users (lower(email));
-- only users with a limit of their own pay for it
CREATE INDEX users_own_slot_limit ON users (slot_limit DESC, id) WHERE slot_limit IS NOT NULL;

CREATE TABLE subscription_plans (
    tier plan_tier PRIMARY KEY,
    concurrent_jobs integer NOT NULL CHECK (concurrent_jobs > 0),
    analyses_per_period integer CHECK (analyses_per_period >= 0),
    spec_units_per_period integer CHECK (spec_units_per_period >= 0),
    retention_days integer CHECK (retention_days > 0),
    price integer
);
COMMENT ON TABLE subscription_plans IS 'null = unlimited, for ever, or by contract';
INSERT INTO subscription_plans VALUES
    ('free', 1, 50, 2500, 30, 0),
    ('pro', 3, 1000, 50000, 180, 15),
    ('pro_plus', 3, 5000, 250000, 365, 59),
    ('enterprise', 5, NULL, NULL, NULL, NULL);

CREATE TABLE user_subscriptions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    tier plan_tier NOT NULL REFERENCES subscription_plans,
    anchor_at timestamptz NOT NULL,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'ended')),
    ended_at timestamptz,
    CONSTRAINT user_subscriptions_ended CHECK ((status = 'ended') = (ended_at IS NOT NULL))
);
CREATE UNIQUE INDEX user_subscriptions_one_active ON user_subscriptions (user_id) WHERE status = 'active';

CREATE TABLE api_tokens (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    token_hash bytea NOT NULL UNIQUE,
    prefix text NOT NULL,
    name text NOT NULL DEFAULT '',
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    parent_id uuid REFERENCES api_tokens ON DELETE CASCADE
);
CREATE INDEX api_tokens_user ON api_tokens (user_id);
CREATE INDEX api_tokens_parent ON api_tokens (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE sessions (
    id_hash bytea PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    last_used_at timestamptz
);
COMMENT ON COLUMN sessions.last_used_at IS 'written at most once a minute; null before the first use after signing in';
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_user ON sessions (user_id);

CREATE TABLE sign_in_links (
    token_hash bytea PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_links_user ON sign_in_links (user_id);

-- Of people who sign in with a password.  A table of its own: no statement that reads an account reads a hash.
CREATE TABLE passwords (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    hash text NOT NULL,
    changed_at timestamptz NOT NULL
);
COMMENT ON COLUMN passwords.hash IS 'argon2id, with its parameters and its salt';

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

-- One token bucket per key.  A crash loses them, which only refills them.
CREATE UNLOGGED TABLE rate_buckets (
    key text PRIMARY KEY,
    tokens double precision NOT NULL,
    refilled_at timestamptz NOT NULL
) WITH (fillfactor = 50);
