-- The functions that count by group; see counting.sql.

-- The groups of a full queue that have the most waiting, all from one sample of a thousand: to count them, or to read
-- a sample of each, would mean pages all over the table.
CREATE OR REPLACE FUNCTION durable_top(which integer, states text[], guesses bigint[], most integer) RETURNS TABLE (
    name text, ready bigint, delayed bigint, parked bigint, oldest timestamptz)
LANGUAGE plpgsql STABLE {settings} AS $$
BEGIN
    RETURN QUERY
    WITH drawn AS (
        SELECT known.state, s.tenant AS of_tenant,
               guess::float8 / count(*) OVER (PARTITION BY known.state) AS weight
          FROM unnest(states, guesses) AS known (state, guess) CROSS JOIN LATERAL (
               (SELECT r.tenant FROM durable_ready AS r
                 WHERE known.state = 'ready' AND r.queue_id = which AND hashint8(r.id) & 31 = 0
                 ORDER BY hashint8(r.id) LIMIT 1000)
               UNION ALL
               (SELECT w.tenant FROM durable_waiting AS w
                 WHERE w.queue_id = which AND w.reason = known.state AND hashint8(w.id) & 31 = 0
                 ORDER BY hashint8(w.id) LIMIT 1000)) AS s)
    SELECT of_tenant, coalesce(round(sum(weight) FILTER (WHERE state = 'ready')), 0)::bigint,
           coalesce(round(sum(weight) FILTER (WHERE state IN ('eta', 'retry', 'snooze', 'limited'))), 0)::bigint,
           coalesce(round(sum(weight) FILTER (WHERE state = 'parked')), 0)::bigint,
           (SELECT c.oldest FROM durable_count(which, 'ready', of_tenant, -9223372036854775808, 5) AS c)
      FROM drawn GROUP BY of_tenant ORDER BY sum(weight) DESC, of_tenant LIMIT most;
END $$;

-- The groups of a queue that have the most waiting, or the one named; '' are the messages without a group.
CREATE OR REPLACE FUNCTION durable_groups(queue_name text, of_tenant text, most integer) RETURNS TABLE (
    name text, ready bigint, oldest_seconds double precision, leased bigint, delayed bigint, parked bigint,
    estimated text[])
LANGUAGE plpgsql STABLE {settings} AS $$
DECLARE
    which integer := (SELECT id FROM durable_queue AS q WHERE q.name = queue_name);
    states text[] := '{ready,eta,retry,snooze,limited,parked}';
    guesses bigint[] := ARRAY(SELECT durable_estimate(which, state, NULL) FROM unnest(states) AS state);
    filled boolean := (SELECT sum(guess) FROM unnest(guesses) AS guess) > 13000;
    picked text[] := ARRAY[of_tenant];
BEGIN
    IF of_tenant IS NULL AND filled THEN
        RETURN QUERY
        SELECT t.name, t.ready, coalesce(greatest(0, extract(epoch FROM clock_timestamp() - t.oldest)), 0)::float8,
               coalesce(l.leased, 0), t.delayed, t.parked,
               array_remove(ARRAY[CASE WHEN t.delayed > 0 THEN 'delayed' END, CASE WHEN t.parked > 0 THEN 'parked' END,
                                  CASE WHEN t.ready > 0 THEN 'ready' END], NULL)
          FROM durable_top(which, states, guesses, most) AS t
          LEFT JOIN durable_leases(which, 30000) AS l ON l.of_tenant = t.name
         ORDER BY t.ready + t.delayed + t.parked DESC, t.name;
        RETURN;
    END IF;
    IF of_tenant IS NULL THEN
        picked := ARRAY(SELECT tenant FROM (
            (SELECT r.tenant FROM durable_ready AS r WHERE r.queue_id = which ORDER BY r.rank LIMIT 20000)
            UNION ALL
            (SELECT w.tenant FROM durable_waiting AS w WHERE w.queue_id = which LIMIT 20000)) AS m
            GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT most);
    END IF;
    RETURN QUERY
    SELECT g.of_tenant, n.ready, n.oldest_seconds, coalesce(l.leased, 0), n.delayed, n.parked, n.estimated
      FROM unnest(picked) AS g (of_tenant) CROSS JOIN LATERAL durable_summary(which, g.of_tenant, 10000) AS n
      LEFT JOIN durable_leases(which, 30000) AS l ON l.of_tenant = g.of_tenant
     ORDER BY n.ready + n.delayed + n.parked DESC, g.of_tenant;
END $$;
