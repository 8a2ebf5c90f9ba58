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
    CONSTRAINT users_person_has_email CHECK ((kind = 'person') = (email IS NOT NULL))
);
COMMENT ON COLUMN users.run_seconds IS 'moving mean of how long the user''s jobs held a slot; null before the first';
COMMENT ON COLUMN users.run_deviation IS 'moving mean of its absolute error';
COMMENT ON COLUMN users.slot_limit IS 'jobs of each service that may run at once, set by an operator; null: as the tier';
CREATE UNIQUE INDEX users_email ON users (lower(email));

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
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_user ON sessions (user_id);

CREATE TABLE sign_in_links (
    token_hash bytea PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_links_user ON sign_in_links (user_id);

-- One token bucket per key.  A crash loses them, which only refills them.
CREATE UNLOGGED TABLE rate_buckets (
    key text PRIMARY KEY,
    tokens double precision NOT NULL,
    refilled_at timestamptz NOT NULL
) WITH (fillfactor = 50);
