-- What a publisher calls, besides durable_publish (publish.sql).
--
-- They run with the rights of the tables' owner, so a role that only publishes needs no right on a table: it can neither
-- read nor change a message.  Each has its search path fixed, with pg_temp at the end: whoever calls them can put no
-- table, function or operator of their own in the place of ours.  No argument becomes the text of a statement.

-- Store many messages: arrays of the same length.  A tenant's messages are ranked one after the other; for those of a
-- serializable transaction see publish.sql.  `may_conflict`: false for tasks that are new and hold no unique key; should
-- one conflict all the same, this is a unique violation, and nothing is stored.  -> the places, from 1 on, of those that
-- were not stored: conflicts and unknown queues.
-- What is to be stored is found first and kept as arrays: a row is not copied from step to step with its payload, and
-- nothing is joined to what an INSERT returns.  `notified` is counted, because otherwise it would not run.
-- Locks besides: the parked groups of these messages, against their being forgotten.
CREATE OR REPLACE FUNCTION durable_publish_many(
    queues text[], bodies text[], tasks text[], users text[], keys text[], delays double precision[], steps integer[],
    priorities integer[] DEFAULT NULL, may_conflict boolean DEFAULT true
) RETURNS SETOF integer
LANGUAGE plpgsql {definer} AS $$
DECLARE
    ranked CONSTANT boolean := current_setting('transaction_isolation') <> 'serializable';
    ids bigint[];               -- NULL: it is not stored
    homes integer[];            -- their queues
    ranks bigint[];
    reasons text[];             -- why they wait; NULL: they are ready
    urgencies smallint[];
    waiting integer;
    stored integer;
BEGIN
    WITH named AS MATERIALIZED (
        SELECT id, name::text FROM durable_queue WHERE name = ANY (ARRAY(SELECT DISTINCT unnest(queues)))),
    given AS MATERIALIZED (
        SELECT g.*, coalesce(g.tenant, '') AS of_tenant, q.id AS queue_id
          FROM unnest(queues, users, delays, steps, priorities)
               WITH ORDINALITY AS g (queue, tenant, delay, step, urgency, place)
          LEFT JOIN named AS q ON q.name = g.queue),
    tenants AS MATERIALIZED (
        SELECT queue_id, of_tenant, CASE WHEN ranked THEN durable_rank(queue_id, of_tenant, step) - step END AS before
          FROM (SELECT DISTINCT ON (queue_id, of_tenant) queue_id, of_tenant, step FROM given
                 WHERE delay IS NULL AND queue_id IS NOT NULL ORDER BY queue_id, of_tenant, place) AS firsts),
    parked AS MATERIALIZED (
        SELECT queue_id, name FROM kombu_group WHERE (queue_id, name) IN (SELECT queue_id, of_tenant FROM tenants)
           FOR KEY SHARE SKIP LOCKED),
    notified AS MATERIALIZED (
        SELECT pg_notify('{channel}', queue || CASE WHEN delay IS NOT NULL THEN E'\t' || round(delay::numeric, 3)
                                                    WHEN ranked THEN '' ELSE E'\t{rank_soon}' END)
          FROM (SELECT DISTINCT queue, queue_id, delay FROM given WHERE queue_id IS NOT NULL) AS hints
         WHERE CASE WHEN delay IS NOT NULL THEN durable_sooner(delay)
                    ELSE NOT ranked OR durable_wanted(queue_id) END),
    sorted AS (
        SELECT g.queue_id, f.before + sum(g.step) OVER (PARTITION BY g.queue_id, g.of_tenant, g.delay IS NULL
                                                        ORDER BY g.place ROWS UNBOUNDED PRECEDING) AS rank,
               CASE WHEN g.delay IS NULL AND (g.queue_id, g.tenant) IN (SELECT queue_id, name FROM parked) THEN 'parked'
                    WHEN g.delay IS NOT NULL OR NOT ranked THEN 'eta' END AS reason,
               (CASE WHEN g.urgency > 0 THEN least(g.urgency, 9) END)::smallint AS urgency
          FROM given AS g LEFT JOIN tenants AS f ON f.queue_id = g.queue_id AND f.of_tenant = g.of_tenant
         WHERE (SELECT count(*) FROM notified) >= 0 ORDER BY g.place)
    SELECT array_agg(CASE WHEN queue_id IS NOT NULL THEN nextval('message_id_sequence') END), array_agg(queue_id),
           array_agg(rank), array_agg(reason), array_agg(urgency), count(reason)
      INTO ids, homes, ranks, reasons, urgencies, waiting FROM sorted;
    IF may_conflict THEN
        INSERT INTO durable_message (id, payload, queue_id, task_id, tenant, unique_key, step, priority)
        SELECT g.* FROM unnest(ids, bodies, homes, tasks, users, keys, steps, urgencies) AS g (id)
         WHERE g.id IS NOT NULL
        ON CONFLICT DO NOTHING;
    ELSE
        INSERT INTO durable_message (id, payload, queue_id, task_id, tenant, unique_key, step, priority)
        SELECT g.* FROM unnest(ids, bodies, homes, tasks, users, keys, steps, urgencies) AS g (id)
         WHERE g.id IS NOT NULL;
    END IF;
    GET DIAGNOSTICS stored = ROW_COUNT;
    IF stored < cardinality(ids) THEN
        ids := ARRAY(
            SELECT m.id FROM unnest(ids) WITH ORDINALITY AS g (id, place) LEFT JOIN durable_message AS m ON m.id = g.id
             ORDER BY g.place);
        RETURN QUERY SELECT g.place::integer FROM unnest(ids) WITH ORDINALITY AS g (id, place) WHERE g.id IS NULL;
    END IF;
    INSERT INTO durable_ready (id, queue_id, tenant, rank, priority)
    SELECT g.id, g.queue_id, coalesce(g.tenant, ''), g.rank, g.urgency
      FROM unnest(ids, homes, users, ranks, urgencies, reasons) AS g (id, queue_id, tenant, rank, urgency, reason)
     WHERE g.id IS NOT NULL AND g.reason IS NULL;
    IF waiting > 0 THEN
        INSERT INTO durable_waiting (id, queue_id, tenant, reason, due_at, priority)
        SELECT g.id, g.queue_id, coalesce(g.tenant, ''), g.reason,
               CASE WHEN g.reason = 'eta' THEN clock_timestamp() + make_interval(secs => coalesce(g.delay, 0)) END,
               g.urgency
          FROM unnest(ids, homes, users, delays, urgencies, reasons) AS g (id, queue_id, tenant, delay, urgency, reason)
         WHERE g.id IS NOT NULL AND g.reason IS NOT NULL;
    END IF;
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
