-- In one moment in which nobody uses the table: its name goes to a partitioned one, of which it becomes the first part.
-- The order of the two locks is that of a worker that delivers.  The second is as strong because the part takes over the
-- foreign key of the table, and gives up its own.
LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE;
LOCK TABLE webhooks IN ACCESS EXCLUSIVE MODE;
ALTER TABLE webhook_deliveries RENAME TO webhook_deliveries_before;
ALTER INDEX webhook_deliveries_log RENAME TO webhook_deliveries_before_log;
ALTER INDEX webhook_deliveries_due RENAME TO webhook_deliveries_before_due;
ALTER INDEX webhook_deliveries_job RENAME TO webhook_deliveries_before_job;
ALTER TABLE webhook_deliveries_before
    DROP CONSTRAINT webhook_deliveries_pkey,
    DROP CONSTRAINT webhook_deliveries_once,
    ADD PRIMARY KEY USING INDEX webhook_deliveries_before_pkey,
    ADD UNIQUE USING INDEX webhook_deliveries_before_once;
CREATE TEMP TABLE moved ON COMMIT DROP AS
SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END AS next FROM webhook_deliveries_id_seq;
ALTER TABLE webhook_deliveries_before ALTER COLUMN id DROP IDENTITY;
-- Constraints have the names that they have in the first part, by which they are the same.
CREATE TABLE webhook_deliveries (
    id bigint GENERATED ALWAYS AS IDENTITY,
    webhook_id uuid NOT NULL CONSTRAINT webhook_deliveries_webhook_id_fkey REFERENCES webhooks ON DELETE CASCADE,
    message_id uuid NOT NULL DEFAULT gen_random_uuid(),
    event_id bigint,
    job_id uuid,
    type text NOT NULL,
    happened_at timestamptz NOT NULL,
    body text,
    status text NOT NULL DEFAULT 'pending'
        CONSTRAINT webhook_deliveries_status_check CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz,
    attempted_at timestamptz,
    status_code integer,
    latency_ms integer,
    answer text,
    fault text,
    PRIMARY KEY (id, happened_at),
    -- what happened has one time, so this is still once for each event
    CONSTRAINT webhook_deliveries_once UNIQUE (webhook_id, event_id, happened_at),
    CONSTRAINT webhook_deliveries_due CHECK ((status = 'pending') = (due_at IS NOT NULL))
) PARTITION BY RANGE (happened_at);
COMMENT ON COLUMN webhook_deliveries.message_id IS 'the webhook-id of every attempt';
COMMENT ON COLUMN webhook_deliveries.event_id IS 'of job_events; null for a test';
COMMENT ON COLUMN webhook_deliveries.body IS
    'what is signed and sent, the same in every attempt; null before the first';
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, id DESC);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_job ON webhook_deliveries (job_id);
DO $$
DECLARE
    found record;
BEGIN
    EXECUTE format('ALTER TABLE webhook_deliveries ALTER COLUMN id RESTART WITH %s', (SELECT next FROM moved));
    -- whoever may read the table may read the one that has its name now
    FOR found IN SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS role, a.privilege_type
                   FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
                  WHERE c.oid = 'webhook_deliveries_before'::regclass AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT %s ON webhook_deliveries TO %s', found.privilege_type, found.role);
    END LOOP;
    EXECUTE format('ALTER TABLE webhook_deliveries ATTACH PARTITION webhook_deliveries_before
                    FOR VALUES FROM (MINVALUE) TO (%L)',
                   (SELECT substring(pg_get_constraintdef(oid) FROM '''(.*?)''') FROM pg_constraint
                     WHERE conrelid = 'webhook_deliveries_before'::regclass AND conname = 'webhook_deliveries_before'));
END $$;
ALTER TABLE webhook_deliveries_before DROP CONSTRAINT webhook_deliveries_before;
CREATE TABLE webhook_deliveries_default PARTITION OF webhook_deliveries DEFAULT;
SELECT webhook_deliveries_months('webhook_deliveries', now(), '-infinity');
