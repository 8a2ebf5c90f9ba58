-- Addresses that are told when a job of their user ends.
CREATE TABLE webhooks (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    url text NOT NULL,
    description text NOT NULL,
    events text[] NOT NULL,
    secret bytea NOT NULL,
    old_secret bytea,
    old_secret_until timestamptz,
    created_at timestamptz NOT NULL,
    disabled_at timestamptz,
    disabled_because text CHECK (disabled_because IN ('owner', 'gone', 'failing')),
    failures integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    paused_until timestamptz,
    CONSTRAINT webhooks_disabled_says_why CHECK ((disabled_at IS NULL) = (disabled_because IS NULL)),
    CONSTRAINT webhooks_old_secret_ends CHECK ((old_secret IS NULL) = (old_secret_until IS NULL))
);
COMMENT ON COLUMN webhooks.secret IS 'encrypted, see app/services/webhooks/sealing.py';
COMMENT ON COLUMN webhooks.failures IS 'attempts that failed since the last one that succeeded';
CREATE INDEX webhooks_of_user ON webhooks (user_id, created_at);

-- What a webhook was told, or is still to be told.
CREATE TABLE webhook_deliveries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    message_id uuid NOT NULL DEFAULT gen_random_uuid(),
    event_id bigint,
    job_id uuid,
    type text NOT NULL,
    happened_at timestamptz NOT NULL,
    body text,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz,
    attempted_at timestamptz,
    status_code integer,
    latency_ms integer,
    answer text,
    fault text,
    CONSTRAINT webhook_deliveries_once UNIQUE (webhook_id, event_id),
    CONSTRAINT webhook_deliveries_due CHECK ((status = 'pending') = (due_at IS NOT NULL))
);
COMMENT ON COLUMN webhook_deliveries.message_id IS 'the webhook-id of every attempt';
COMMENT ON COLUMN webhook_deliveries.event_id IS 'of job_events; null for a test';
COMMENT ON COLUMN webhook_deliveries.body IS 'what is signed and sent, the same in every attempt; null before the first';
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, id DESC);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_job ON webhook_deliveries (job_id);
