-- The functions that count by group; see counting.sql.

-- The groups of a full queue that have the most waiting, all from one sample of a thousand: to count them, or to read
-- a sample of each, would mean pages all over the table.
CREATE OR REPLACE FUNCTION kombu_message_top(which integer, states text[], guesses bigint[], most integer) RETURNS TABLE (
    name text, ready bigint, delayed bigint, parked bigint, oldest timestamptz)
LANGUAGE plpgsql STABLE {settings} AS $$
BEGIN
    RETURN QUERY
    WITH drawn AS (
        SELECT known.state, coalesce(s.user_id, '') AS flow,
               guess::float8 / count(*) OVER (PARTITION BY known.state) AS weight
          FROM unnest(states, guesses) AS known (state, guess) CROSS JOIN LATERAL (
               SELECT user_id FROM kombu_message
                WHERE queue_id = which AND coalesce(delay_reason, 'ready') = known.state
                  AND lease_token IS NULL AND hashint8(id) & 31 = 0
                ORDER BY hashint8(id) LIMIT 1000) AS s)
    SELECT flow, coalesce(round(sum(weight) FILTER (WHERE state = 'ready')), 0)::bigint,
           coalesce(round(sum(weight) FILTER (WHERE state IN ('eta', 'retry', 'snooze'))), 0)::bigint,
           coalesce(round(sum(weight) FILTER (WHERE state = 'parked')), 0)::bigint,
           (SELECT c.oldest FROM kombu_message_count(which, 'ready', flow, -9223372036854775808, 5) AS c)
      FROM drawn GROUP BY flow ORDER BY sum(weight) DESC, flow LIMIT most;
END $$;

-- The groups of a queue that have the most waiting, or the one named; '' are the messages without a group.
CREATE OR REPLACE FUNCTION kombu_message_groups(queue_name text, flow text, most integer) RETURNS TABLE (
    name text, ready bigint, oldest_seconds double precision, leased bigint, delayed bigint, parked bigint,
    estimated text[])
LANGUAGE plpgsql STABLE {settings} AS $$
DECLARE
    which integer := (SELECT id FROM kombu_queue AS q WHERE q.name = queue_name);
    states text[] := '{ready,eta,retry,snooze,parked}';
    guesses bigint[] := ARRAY(SELECT kombu_message_estimate(which, state, NULL) FROM unnest(states) AS state);
    filled boolean := (SELECT sum(guess) FROM unnest(guesses) AS guess) > 13000;
    picked text[] := ARRAY[flow];
BEGIN
    IF flow IS NULL AND filled THEN
        RETURN QUERY
        SELECT t.name, t.ready, coalesce(greatest(0, extract(epoch FROM clock_timestamp() - t.oldest)), 0)::float8,
               coalesce(l.leased, 0), t.delayed, t.parked,
               array_remove(ARRAY[CASE WHEN t.delayed > 0 THEN 'delayed' END, CASE WHEN t.parked > 0 THEN 'parked' END,
                                  CASE WHEN t.ready > 0 THEN 'ready' END], NULL)
          FROM kombu_message_top(which, states, guesses, most) AS t
          LEFT JOIN kombu_message_leases(which, 500) AS l ON l.flow = t.name
         ORDER BY t.ready + t.delayed + t.parked DESC, t.name;
        RETURN;
    END IF;
    IF flow IS NULL THEN
        picked := ARRAY(SELECT coalesce(user_id, '') FROM (
            (SELECT user_id FROM kombu_message WHERE queue_id = which AND visible ORDER BY rank LIMIT 20000)
            UNION ALL
            (SELECT user_id FROM kombu_message WHERE queue_id = which AND delay_reason = ANY (states) LIMIT 20000)) AS m
            GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT most);
    END IF;
    RETURN QUERY
    SELECT g.flow, n.ready, n.oldest_seconds, coalesce(l.leased, 0), n.delayed, n.parked, n.estimated
      FROM unnest(picked) AS g (flow) CROSS JOIN LATERAL kombu_message_summary(which, g.flow, 10000) AS n
      LEFT JOIN kombu_message_leases(which, CASE WHEN filled THEN 500 ELSE 30000 END) AS l ON l.flow = g.flow
     ORDER BY n.ready + n.delayed + n.parked DESC, g.flow;
END $$;
