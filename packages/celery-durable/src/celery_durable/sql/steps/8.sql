-- Where a message stands is its state: three narrow tables, see tables.sql.  The table of before becomes that of the
-- messages, so no payload is copied.  Publishers and workers wait for the end of this step; its time grows with the number
-- of messages, at about nine seconds for a million of them.  Indexes are read, which have just the rows of a state.
SELECT set_config('enable_seqscan', 'off', true);
SELECT kombu_message_take_in(id, 2147483647) FROM kombu_queue;
DROP FUNCTION kombu_message_estimate, kombu_message_count, kombu_message_numbers, kombu_message_summary,
    kombu_message_leases, kombu_message_top;

-- It has the same columns again when the views are replaced, and who may read it still may.
CREATE OR REPLACE VIEW broker_message AS
SELECT NULL::bigint AS id, NULL::integer AS queue_id, NULL::text AS task_id, NULL::text AS group_name,
       NULL::text AS unique_key, NULL::boolean AS is_ready, NULL::timestamptz AS ready_at, NULL::text AS delay_reason,
       NULL::bigint AS rank, NULL::integer AS step, NULL::uuid AS lease_token, NULL::timestamptz AS started_at,
       NULL::integer AS delivery_count, NULL::integer AS retry_count, NULL::integer AS snooze_count,
       NULL::integer AS lost_count, NULL::timestamptz AS cancel_requested_at, NULL::timestamptz AS enqueued_at,
       NULL::bigint AS node_id;

{states}
-- Of each message the priority that its payload names.  Nearly always it is 0, which is seen quickly.
ALTER TABLE kombu_message ADD priority smallint;
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT id, payload FROM kombu_message
                WHERE id > 0 AND CASE WHEN strpos(payload, '"priority":0') = 0 THEN payload ~ '"priority": ?[1-9]' END
    LOOP
        BEGIN
            UPDATE kombu_message SET priority = least(9, (one.payload::json #>> '{properties,priority}')::numeric)
             WHERE id = one.id AND (one.payload::json #>> '{properties,priority}')::numeric >= 1;
        EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
            NULL;                            -- a worker finds out, and buries it
        END;
    END LOOP;
END $$;
INSERT INTO durable_ready (id, queue_id, tenant, rank, since, priority)
SELECT id, queue_id, coalesce(user_id, ''),
       coalesce(rank, (extract(epoch FROM enqueued_at) * 1000000)::bigint),  -- NULL: of a queue that is not there
       coalesce(visible_at, enqueued_at), priority
  FROM kombu_message WHERE visible;
INSERT INTO durable_lease (id, queue_id, rank, token, node, until, started_at)
SELECT id, queue_id, coalesce(rank, 0), lease_token, lease_owner, coalesce(visible_at, clock_timestamp()), started_at
  FROM kombu_message WHERE NOT visible AND lease_token IS NOT NULL;
INSERT INTO durable_waiting (id, queue_id, tenant, reason, due_at, priority)
SELECT id, queue_id, coalesce(user_id, ''), coalesce(delay_reason, 'eta'),
       CASE WHEN delay_reason IS DISTINCT FROM 'parked' THEN coalesce(visible_at, clock_timestamp()) END, priority
  FROM kombu_message WHERE NOT visible AND lease_token IS NULL;
UPDATE kombu_message SET delivery_count = delivery_count - 1 WHERE id = ANY (ARRAY(SELECT id FROM durable_lease));

-- The rights on the columns that go: the view of this name has them again (8.rights.sql).
CREATE TABLE durable_kept_rights AS
SELECT attname AS part, privilege_type AS act, bool_or(is_grantable) AS is_grantable,
       CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid CROSS JOIN LATERAL aclexplode(attacl)
 WHERE attrelid = 'kombu_message'::regclass AND NOT attisdropped AND grantee <> relowner
   AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE')
 GROUP BY attname, privilege_type, grantee;
ALTER TABLE kombu_message
    DROP visible, DROP timestamp, DROP version, DROP visible_at, DROP delay_reason, DROP rank, DROP lease_token,
    DROP lease_owner, DROP started_at;
ALTER TABLE kombu_message RENAME user_id TO tenant;
ALTER TABLE kombu_message RENAME rank_step TO step;
ALTER TABLE kombu_message RENAME TO durable_message;
ALTER TABLE kombu_queue RENAME TO durable_queue;
ALTER INDEX kombu_message_task_id RENAME TO durable_message_task;
ALTER INDEX kombu_message_unique_key RENAME TO durable_message_unique_key;
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT conrelid::regclass AS place, conname AS name FROM pg_constraint
         WHERE conrelid IN ('durable_message'::regclass, 'durable_queue'::regclass)
    LOOP
        EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', one.place, one.name, replace(replace(
            one.name, 'kombu_', 'durable_'), 'rank_step', 'step'));
    END LOOP;
END $$;
ALTER TABLE durable_queue
    ADD has_priorities boolean NOT NULL DEFAULT false, ADD has_limits boolean NOT NULL DEFAULT false;
SET LOCAL enable_seqscan = on;
