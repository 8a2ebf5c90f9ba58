LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE;
CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT * FROM webhook_deliveries;
CREATE TEMP TABLE reached ON COMMIT DROP AS
SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END AS next FROM webhook_deliveries_id_seq;
DROP TABLE webhook_deliveries;
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
INSERT INTO webhook_deliveries OVERRIDING SYSTEM VALUE SELECT * FROM moved;
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, id DESC);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_job ON webhook_deliveries (job_id);
DO $$
BEGIN
    EXECUTE format('ALTER TABLE webhook_deliveries ALTER COLUMN id RESTART WITH %s', (SELECT next FROM reached));
END $$;
DROP FUNCTION webhook_deliveries_months;
DROP FUNCTION partition_bounds;
