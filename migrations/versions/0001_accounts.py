"""Accounts: users, tokens, sessions, plans and subscriptions."""

from alembic import op

revision = "0001"
down_revision = None

UPGRADE = """
CREATE TYPE plan_tier AS ENUM ('free', 'pro', 'pro_plus', 'enterprise');
CREATE TYPE usage_event_type AS ENUM ('analysis', 'specview');

CREATE TABLE users (
    id uuid PRIMARY KEY,
    kind text NOT NULL DEFAULT 'person' CHECK (kind IN ('person', 'anonymous')),
    email text,
    is_operator boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    CONSTRAINT users_person_has_email CHECK ((kind = 'person') = (email IS NOT NULL))
);
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
    revoked_at timestamptz
);
CREATE INDEX api_tokens_user ON api_tokens (user_id);

CREATE TABLE sessions (
    id_hash bytea PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE sign_in_links (
    token_hash bytea PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);

CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    facts jsonb NOT NULL DEFAULT '{}'
);

-- One token bucket per key; lost in a crash, which only refills it.
CREATE UNLOGGED TABLE rate_buckets (
    key text PRIMARY KEY,
    tokens double precision NOT NULL,
    refilled_at timestamptz NOT NULL
) WITH (fillfactor = 50);
"""

DOWNGRADE = """
DROP TABLE rate_buckets, audit_log, sign_in_links, sessions, api_tokens, user_subscriptions, subscription_plans, users;
DROP TYPE usage_event_type;
DROP TYPE plan_tier;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
