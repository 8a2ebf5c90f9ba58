-- What a publisher calls, besides kombu_message_publish (publish.sql).
--
-- They run with the rights of the tables' owner, so a role that only publishes needs no right on a table: it can neither
-- read nor change a message.  Each has its search path fixed, with pg_temp at the end: whoever calls them can put no
-- table, function or operator of their own in the place of ours.  No argument becomes the text of a statement.

-- Store many messages: arrays of the same length.  A group's messages are ranked one after the other; for those of a
-- serializable transaction see publish.sql.  -> (task id, queue) of those that were stored; conflicts and unknown queues
-- are missing.  `told` is counted, because otherwise it would not run.
CREATE OR REPLACE FUNCTION kombu_message_publish_many(
    queues text[], bodies text[], tasks text[], users text[], keys text[], delays double precision[], steps integer[]
) RETURNS TABLE (stored_task text, stored_queue text)
LANGUAGE plpgsql {definer} AS $$
DECLARE
    ranked boolean := current_setting('transaction_isolation') <> 'serializable';
BEGIN
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT g.*, q.id AS queue_id
          FROM unnest(queues, bodies, tasks, users, keys, delays, steps)
               WITH ORDINALITY AS g (queue, payload, task_id, user_id, unique_key, delay, step, place)
          JOIN kombu_queue AS q ON q.name = g.queue),
    flows AS MATERIALIZED (
        SELECT queue_id, user_id, CASE WHEN ranked THEN kombu_message_rank(queue_id, user_id, min(step)) END AS rank
          FROM given WHERE delay IS NULL GROUP BY queue_id, user_id),
    parked AS MATERIALIZED (
        SELECT queue_id, name FROM kombu_group WHERE (queue_id, name) IN (SELECT queue_id, user_id FROM flows)
           FOR KEY SHARE SKIP LOCKED),
    told AS MATERIALIZED (
        SELECT pg_notify('{channel}', queue || CASE WHEN delay IS NOT NULL THEN E'\t' || round(delay::numeric, 3)
                                                    WHEN ranked THEN '' ELSE E'\t{rank_soon}' END)
          FROM (SELECT DISTINCT queue, queue_id, delay FROM given) AS hints
         WHERE CASE WHEN delay IS NOT NULL THEN kombu_message_sooner(delay)
                    ELSE NOT ranked OR kombu_message_wanted(queue_id) END),
    sorted AS (
        SELECT given.*,
               CASE WHEN delay IS NOT NULL THEN 'eta'
                    WHEN (queue_id, user_id) IN (SELECT queue_id, name FROM parked) THEN 'parked' END AS reason,
               sum(step) OVER (PARTITION BY queue_id, user_id, delay IS NULL ORDER BY place) - step AS ahead
          FROM given),
    stored AS (
        INSERT INTO kombu_message
               (visible, visible_at, delay_reason, payload, queue_id, task_id, user_id, unique_key, rank_step, rank)
        SELECT reason IS NULL,
               CASE WHEN reason IS DISTINCT FROM 'parked'
                    THEN clock_timestamp() + make_interval(secs => coalesce(delay, 0)) END,
               reason, payload, queue_id, task_id, user_id, unique_key, step,
               CASE WHEN reason IS NULL THEN (
                   SELECT rank FROM flows WHERE flows.queue_id = sorted.queue_id
                      AND flows.user_id IS NOT DISTINCT FROM sorted.user_id) + ahead END
          FROM sorted WHERE (SELECT count(*) FROM told) >= 0 ORDER BY place
        ON CONFLICT DO NOTHING RETURNING task_id, queue_id)
    SELECT stored.task_id, q.name::text FROM stored JOIN kombu_queue AS q ON q.id = stored.queue_id;
END $$;

-- Why nothing was stored: the message in the way, if there is one (the same task on the same queue first).  Not its
-- lease: with the token its holder's message could be changed.
CREATE OR REPLACE FUNCTION kombu_message_in_the_way(queue_name text, task text, key text)
RETURNS TABLE (task_id text, is_leased boolean, is_same boolean)
LANGUAGE plpgsql STABLE {definer} AS $$
BEGIN
    RETURN QUERY
    SELECT found.task_id, found.lease_token IS NOT NULL, found.same FROM (
        SELECT m.task_id, m.lease_token, true AS same FROM kombu_message AS m
         WHERE m.task_id = task AND m.queue_id = (SELECT id FROM kombu_queue WHERE name = queue_name)
        UNION ALL
        SELECT m.task_id, m.lease_token, false FROM kombu_message AS m WHERE m.unique_key = key) AS found
     ORDER BY found.same DESC LIMIT 1;
END $$;

CREATE OR REPLACE FUNCTION kombu_queue_add(queue_name text) RETURNS void
LANGUAGE plpgsql {definer} AS $$
BEGIN
    INSERT INTO kombu_queue (name) VALUES (queue_name) ON CONFLICT DO NOTHING;
END $$;

CREATE OR REPLACE FUNCTION kombu_queue_exists(queue_name text) RETURNS boolean
LANGUAGE plpgsql STABLE {definer} AS $$
BEGIN
    RETURN EXISTS (SELECT FROM kombu_queue WHERE name = queue_name);
END $$;

-- -> how many messages are ready.
CREATE OR REPLACE FUNCTION kombu_queue_size(queue_name text) RETURNS bigint
LANGUAGE plpgsql STABLE {definer} AS $$
BEGIN
    RETURN (SELECT count(*) FROM kombu_message
             WHERE queue_id = (SELECT id FROM kombu_queue WHERE name = queue_name) AND visible);
END $$;

-- Only who is granted them, and who could write messages already: see sql/grants.
DO $$
DECLARE
    theirs CONSTANT text := 'kombu_message_publish, kombu_message_publish_many, kombu_message_in_the_way,'
                            ' kombu_queue_add, kombu_queue_exists, kombu_queue_size';
    writer text;
BEGIN
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', theirs);
    FOR writer IN
        SELECT DISTINCT CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END
          FROM pg_class CROSS JOIN LATERAL aclexplode(relacl)
         WHERE oid = 'kombu_message'::regclass AND privilege_type = 'INSERT' AND grantee <> relowner
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', theirs, writer);
    END LOOP;
END $$;
