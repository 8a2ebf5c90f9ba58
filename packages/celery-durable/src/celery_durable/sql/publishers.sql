-- What a publisher calls, besides durable_publish (publish.sql).
--
-- They run with the rights of the tables' owner, so a role that only publishes needs no right on a table: it can neither
-- read nor change a message.  Each has its search path fixed, with pg_temp at the end: whoever calls them can put no
-- table, function or operator of their own in the place of ours.  No argument becomes the text of a statement.

-- Store many messages: arrays of the same length.  A group's messages are ranked one after the other; for those of a
-- serializable transaction see publish.sql.  -> (task id, queue) of those that were stored; conflicts and unknown queues
-- are missing.  `told` is counted, because otherwise it would not run.
CREATE OR REPLACE FUNCTION durable_publish_many(
    queues text[], bodies text[], tasks text[], users text[], keys text[], delays double precision[], steps integer[],
    priorities integer[] DEFAULT NULL
) RETURNS TABLE (stored_task text, stored_queue text)
LANGUAGE plpgsql {definer} AS $$
DECLARE
    ranked boolean := current_setting('transaction_isolation') <> 'serializable';
BEGIN
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT g.*, q.id AS queue_id, nextval('message_id_sequence') AS id,
               (CASE WHEN urgency > 0 THEN least(urgency, 9) END)::smallint AS priority
          FROM unnest(queues, bodies, tasks, users, keys, delays, steps, priorities)
               WITH ORDINALITY AS g (queue, payload, task_id, tenant, unique_key, delay, step, urgency, place)
          JOIN durable_queue AS q ON q.name = g.queue),
    flows AS MATERIALIZED (
        SELECT queue_id, tenant, CASE WHEN ranked THEN durable_rank(queue_id, tenant, min(step)) END AS rank
          FROM given WHERE delay IS NULL GROUP BY queue_id, tenant),
    parked AS MATERIALIZED (
        SELECT queue_id, name FROM kombu_group WHERE (queue_id, name) IN (SELECT queue_id, tenant FROM flows)
           FOR KEY SHARE SKIP LOCKED),
    told AS MATERIALIZED (
        SELECT pg_notify('{channel}', queue || CASE WHEN delay IS NOT NULL THEN E'\t' || round(delay::numeric, 3)
                                                    WHEN ranked THEN '' ELSE E'\t{rank_soon}' END)
          FROM (SELECT DISTINCT queue, queue_id, delay FROM given) AS hints
         WHERE CASE WHEN delay IS NOT NULL THEN durable_sooner(delay)
                    ELSE NOT ranked OR durable_wanted(queue_id) END),
    sorted AS MATERIALIZED (
        SELECT given.*,
               CASE WHEN delay IS NULL AND (queue_id, tenant) IN (SELECT queue_id, name FROM parked) THEN 'parked'
                    WHEN delay IS NOT NULL OR NOT ranked THEN 'eta' END AS reason,
               sum(step) OVER (PARTITION BY queue_id, tenant, delay IS NULL ORDER BY place) - step AS ahead
          FROM given),
    stored AS (
        INSERT INTO durable_message (id, payload, queue_id, task_id, tenant, unique_key, step, priority)
        SELECT id, payload, queue_id, task_id, tenant, unique_key, step, priority
          FROM sorted WHERE (SELECT count(*) FROM told) >= 0 ORDER BY place
        ON CONFLICT DO NOTHING RETURNING id, task_id, queue_id),
    ready AS (
        INSERT INTO durable_ready (id, queue_id, tenant, rank, priority)
        SELECT s.id, s.queue_id, coalesce(s.tenant, ''), f.rank + s.ahead, s.priority
          FROM stored JOIN sorted AS s ON s.id = stored.id
          JOIN flows AS f ON f.queue_id = s.queue_id AND f.tenant IS NOT DISTINCT FROM s.tenant
         WHERE s.reason IS NULL ORDER BY s.place),
    waiting AS (
        INSERT INTO durable_waiting (id, queue_id, tenant, reason, due_at, priority)
        SELECT s.id, s.queue_id, coalesce(s.tenant, ''), s.reason,
               CASE WHEN s.reason = 'eta' THEN clock_timestamp() + make_interval(secs => coalesce(s.delay, 0)) END,
               s.priority
          FROM stored JOIN sorted AS s ON s.id = stored.id WHERE s.reason IS NOT NULL ORDER BY s.place)
    SELECT stored.task_id, q.name::text FROM stored JOIN durable_queue AS q ON q.id = stored.queue_id;
END $$;

-- Why nothing was stored: the message in the way, if there is one (the same task on the same queue first).  Not its
-- lease: with the token its holder's message could be changed.
CREATE OR REPLACE FUNCTION durable_in_the_way(queue_name text, task text, key text)
RETURNS TABLE (task_id text, is_leased boolean, is_same boolean)
LANGUAGE plpgsql STABLE {definer} AS $$
BEGIN
    RETURN QUERY
    SELECT found.task_id, EXISTS (SELECT FROM durable_lease AS l WHERE l.id = found.id), found.same FROM (
        SELECT m.id, m.task_id, true AS same FROM durable_message AS m
         WHERE m.task_id = task AND m.queue_id = (SELECT q.id FROM durable_queue AS q WHERE q.name = queue_name)
        UNION ALL
        SELECT m.id, m.task_id, false FROM durable_message AS m WHERE m.unique_key = key) AS found
     ORDER BY found.same DESC LIMIT 1;
END $$;

CREATE OR REPLACE FUNCTION durable_queue_add(queue_name text) RETURNS void
LANGUAGE plpgsql {definer} AS $$
BEGIN
    INSERT INTO durable_queue (name) VALUES (queue_name) ON CONFLICT DO NOTHING;
END $$;

CREATE OR REPLACE FUNCTION durable_queue_exists(queue_name text) RETURNS boolean
LANGUAGE plpgsql STABLE {definer} AS $$
BEGIN
    RETURN EXISTS (SELECT FROM durable_queue WHERE name = queue_name);
END $$;

-- -> how many messages are ready.
CREATE OR REPLACE FUNCTION durable_queue_size(queue_name text) RETURNS bigint
LANGUAGE plpgsql STABLE {definer} AS $$
BEGIN
    RETURN (SELECT count(*) FROM durable_ready
             WHERE queue_id = (SELECT id FROM durable_queue WHERE name = queue_name));
END $$;

-- Only who is granted them, and who could write messages already: see sql/grants.
DO $$
DECLARE
    theirs CONSTANT text := 'durable_publish, durable_publish_many, durable_in_the_way,'
                            ' durable_queue_add, durable_queue_exists, durable_queue_size';
    writer text;
BEGIN
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', theirs);
    FOR writer IN
        SELECT DISTINCT CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END
          FROM pg_class CROSS JOIN LATERAL aclexplode(relacl)
         WHERE oid = 'durable_message'::regclass AND privilege_type = 'INSERT' AND grantee <> relowner
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', theirs, writer);
    END LOOP;
END $$;
