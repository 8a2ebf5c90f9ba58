-- The functions that count what waits, cheap at any size.  An application may call them without this package.
--
-- Up to 10,000 a number is exact.  Beyond that it is an estimate from a sample: indexes hold every 32nd row, chosen and
-- sorted by a hash of its id.  The more rows there are, the closer together lie the first 512 in that order; their span
-- tells the number with a standard error of 5 %, wherever in the table the rows are, and without any statistics.
--
-- All of them read the one snapshot of the caller's statement, lock nothing and write nothing.

-- -> about how many rows there are in a state: 'ready', 'eta', 'retry', 'snooze', 'limited', 'parked' or 'dead'.
-- of_tenant: of this group ('': those without one), NULL for the whole queue.
CREATE OR REPLACE FUNCTION durable_estimate(which integer, state text, of_tenant text) RETURNS bigint
LANGUAGE plpgsql STABLE {settings} AS $$
DECLARE
    seen bigint;
    last integer;
BEGIN
    IF state = 'dead' THEN
        SELECT count(*), max(place) INTO seen, last FROM (
            SELECT hashint8(id) AS place FROM kombu_dead_letter
             WHERE queue = (SELECT name FROM durable_queue WHERE id = which) AND hashint8(id) & 31 = 0
             ORDER BY hashint8(id) LIMIT 512) AS sample;
    ELSIF state = 'ready' AND of_tenant IS NULL THEN
        SELECT count(*), max(place) INTO seen, last FROM (
            SELECT hashint8(id) AS place FROM durable_ready
             WHERE queue_id = which AND hashint8(id) & 31 = 0
             ORDER BY hashint8(id) LIMIT 512) AS sample;
    ELSIF state = 'ready' THEN
        SELECT count(*), max(place) INTO seen, last FROM (
            SELECT hashint8(id) AS place FROM durable_ready
             WHERE queue_id = which AND tenant = of_tenant AND hashint8(id) & 31 = 0
             ORDER BY hashint8(id) LIMIT 512) AS sample;
    ELSIF of_tenant IS NULL THEN
        SELECT count(*), max(place) INTO seen, last FROM (
            SELECT hashint8(id) AS place FROM durable_waiting
             WHERE queue_id = which AND reason = state AND hashint8(id) & 31 = 0
             ORDER BY hashint8(id) LIMIT 512) AS sample;
    ELSE
        SELECT count(*), max(place) INTO seen, last FROM (
            SELECT hashint8(id) AS place FROM durable_waiting
             WHERE queue_id = which AND tenant = of_tenant AND reason = state AND hashint8(id) & 31 = 0
             ORDER BY hashint8(id) LIMIT 512) AS sample;
    END IF;
    RETURN 32 * CASE WHEN seen < 512 THEN seen ELSE 511 / ((last::float8 + 2147483648) / 4294967296) END;
END $$;

-- -> how many rows there are in a state, counted up to `most`; since when the oldest of them is ready.
-- `lowest`: the rank to begin at.
CREATE OR REPLACE FUNCTION durable_count(
    which integer, state text, of_tenant text, lowest bigint, most integer, OUT counted bigint, OUT oldest timestamptz
) LANGUAGE plpgsql STABLE {settings} AS $$
BEGIN
    IF state = 'dead' THEN
        SELECT count(*) INTO counted FROM (
            SELECT FROM kombu_dead_letter WHERE queue = (SELECT name FROM durable_queue WHERE id = which) LIMIT most) AS d;
    ELSIF state <> 'ready' AND of_tenant IS NULL THEN
        SELECT count(*) INTO counted FROM (
            SELECT FROM durable_waiting WHERE queue_id = which AND reason = state LIMIT most) AS w;
    ELSIF state <> 'ready' THEN
        SELECT count(*) INTO counted FROM (
            SELECT FROM durable_waiting
             WHERE queue_id = which AND reason = state AND tenant = of_tenant LIMIT most) AS w;
    ELSIF of_tenant IS NULL THEN
        SELECT count(*), min(since) INTO counted, oldest FROM (
            SELECT since FROM durable_ready
             WHERE queue_id = which AND rank >= lowest ORDER BY rank LIMIT most) AS r;
    ELSE
        SELECT count(*), min(since) INTO counted, oldest FROM (
            SELECT since FROM durable_ready
             WHERE queue_id = which AND (tenant, rank) >= (of_tenant, lowest) AND tenant <= of_tenant
             ORDER BY tenant, rank LIMIT most) AS r;
    END IF;
END $$;

-- A number per state, and whether it is an estimate.  `exact`: up to it the numbers are exact.
-- Should vacuum be far behind, an old transaction keeps so many dead entries at the begin of the index of ready ones
-- that the count begins at the floor; what came back below it is then seen by the sample only.
CREATE OR REPLACE FUNCTION durable_numbers(which integer, of_tenant text, exact integer)
RETURNS TABLE (state text, number bigint, estimated boolean, oldest timestamptz)
LANGUAGE plpgsql STABLE {settings} AS $$
DECLARE
    crowded boolean := pg_stat_get_dead_tuples('durable_ready'::regclass) > 50000;
    lowest bigint := CASE WHEN crowded THEN (SELECT rank_floor FROM durable_queue WHERE id = which)
                          ELSE -9223372036854775808 END;
    guess bigint;
BEGIN
    FOREACH state IN ARRAY '{ready,eta,retry,snooze,limited,parked}'::text[] || CASE WHEN of_tenant IS NULL THEN 'dead' END LOOP
        CONTINUE WHEN state IS NULL;
        guess := durable_estimate(which, state, of_tenant);
        estimated := guess > exact * 1.3;
        oldest := NULL;
        number := 0;
        IF NOT estimated OR state = 'ready' THEN
            SELECT c.counted, c.oldest INTO number, oldest
              FROM durable_count(which, state, of_tenant, lowest, CASE WHEN NOT estimated THEN exact + 1
                                                                    WHEN of_tenant IS NULL THEN 500 ELSE 20 END) AS c;
        END IF;
        estimated := estimated OR number > exact OR crowded AND guess > 2 * number + 256;
        number := CASE WHEN estimated THEN greatest(guess, number) ELSE number END;
        RETURN NEXT;
    END LOOP;
END $$;

-- The numbers in one row.  `delayed`: 'eta', 'retry', 'snooze' and 'limited' together; `estimated`: which columns are estimates.
CREATE OR REPLACE FUNCTION durable_summary(
    which integer, of_tenant text, exact integer, OUT ready bigint, OUT oldest_seconds double precision,
    OUT delayed bigint, OUT snoozed bigint, OUT parked bigint, OUT dead bigint, OUT estimated text[]
) LANGUAGE plpgsql STABLE {settings} AS $$
BEGIN
    SELECT sum(n.number) FILTER (WHERE state = 'ready'),
           coalesce(greatest(0, extract(epoch FROM clock_timestamp() - max(n.oldest))), 0),
           sum(n.number) FILTER (WHERE state IN ('eta', 'retry', 'snooze', 'limited')),
           sum(n.number) FILTER (WHERE state = 'snooze'),
           sum(n.number) FILTER (WHERE state = 'parked'),
           sum(n.number) FILTER (WHERE state = 'dead'),
           coalesce(array_agg(DISTINCT CASE WHEN state IN ('eta', 'retry', 'snooze', 'limited') THEN 'delayed' ELSE state END)
                    FILTER (WHERE n.estimated), '{}')
      INTO ready, oldest_seconds, delayed, snoozed, parked, dead, estimated
      FROM durable_numbers(which, of_tenant, exact) AS n;
END $$;

-- -> of leases that end after it all are counted.  An old transaction keeps entries of the index of leases that ended long
-- ago: if there are many, those are left out.
CREATE OR REPLACE FUNCTION durable_lease_since() RETURNS timestamptz LANGUAGE plpgsql STABLE {settings} AS $$
BEGIN
    RETURN CASE WHEN pg_stat_get_dead_tuples('durable_lease'::regclass) > 50000
                THEN clock_timestamp() - interval '5 s' ELSE '-infinity' END;
END $$;

-- The leased messages of a queue, by group; of very many the `most` that end first.
CREATE OR REPLACE FUNCTION durable_leases(which integer, most integer) RETURNS TABLE (of_tenant text, leased bigint)
LANGUAGE plpgsql STABLE {by_key} AS $$
BEGIN
    RETURN QUERY
    SELECT coalesce(m.tenant, ''), count(*)
      FROM (SELECT l.id FROM durable_lease AS l
             WHERE l.queue_id = which AND l.until > durable_lease_since() ORDER BY l.until LIMIT most) AS held
      JOIN durable_message AS m ON m.id = held.id
     GROUP BY 1;
END $$;

-- All queues, in the order they were made.
CREATE OR REPLACE FUNCTION durable_facts() RETURNS TABLE (
    queue text, paused boolean, ready bigint, oldest_seconds double precision, leased bigint, delayed bigint,
    snoozed bigint, parked bigint, dead bigint, estimated text[])
LANGUAGE plpgsql STABLE {settings} AS $$
BEGIN
    RETURN QUERY
    SELECT q.name::text, q.paused_at IS NOT NULL, n.ready, n.oldest_seconds,
           (SELECT count(*) FROM (SELECT FROM durable_lease AS l WHERE l.queue_id = q.id
                                     AND l.until > durable_lease_since() LIMIT 30000) AS held),
           n.delayed, n.snoozed, n.parked, n.dead, n.estimated
      FROM durable_queue AS q CROSS JOIN LATERAL durable_summary(q.id, NULL, 10000) AS n ORDER BY q.id;
END $$;
