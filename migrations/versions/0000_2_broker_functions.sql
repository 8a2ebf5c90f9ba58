-- The functions and views of celery-durable at version 1 of its schema.

CREATE OR REPLACE FUNCTION kombu_message_rank(which integer, flow text, step integer) RETURNS bigint
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    lowest bigint := (SELECT rank_floor FROM kombu_queue WHERE id = which);
    head bigint;
    last bigint;
BEGIN
    SELECT rank INTO head FROM kombu_message
     WHERE queue_id = which AND visible AND rank >= lowest ORDER BY rank LIMIT 1;
    IF head IS NOT NULL THEN
        SELECT rank INTO last FROM kombu_message
         WHERE queue_id = which AND coalesce(user_id, '') = coalesce(flow, '') AND visible AND rank >= lowest
         ORDER BY rank DESC LIMIT 1;
    END IF;
    RETURN greatest(coalesce(head, lowest, 0), coalesce(last + step, 0),
                    CASE WHEN head IS NULL THEN (extract(epoch FROM clock_timestamp()) * 1000000)::bigint END);
END $$;

CREATE OR REPLACE FUNCTION kombu_message_wanted(which integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    asleep boolean := true;
BEGIN
    IF pg_try_advisory_xact_lock_shared(hashtext('kombu_message publishing'), which) THEN
        BEGIN
            asleep := NOT pg_try_advisory_xact_lock(hashtext('kombu_message asleep'), which);
            RAISE EXCEPTION USING errcode = 'BR000';
        EXCEPTION WHEN SQLSTATE 'BR000' THEN
            NULL;
        END;
    END IF;
    RETURN asleep;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_sooner(delay double precision) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM kombu_node AS n WHERE coalesce((to_jsonb(n) ->> 'poll_seconds')::float8, 'infinity') >= delay);
END $$;

CREATE OR REPLACE FUNCTION kombu_message_publish(
    queue_name text, body text, task text, flow text, key text, delay double precision, step integer, hint text,
    most_ready integer DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    which integer := (SELECT id FROM kombu_queue WHERE name = queue_name);
    reason text := CASE WHEN delay IS NOT NULL THEN 'eta' END;
    added bigint;
BEGIN
    IF reason IS NULL AND flow IS NOT NULL THEN
        PERFORM FROM kombu_group WHERE queue_id = which AND name = flow FOR KEY SHARE SKIP LOCKED;
        reason := CASE WHEN FOUND THEN 'parked' END;
        IF reason IS NULL AND most_ready <= (
            SELECT count(*) FROM (
                SELECT FROM kombu_message WHERE queue_id = which AND coalesce(user_id, '') = flow AND visible
                   AND rank IS NOT NULL LIMIT most_ready) AS ready) THEN
            reason := 'parked';
            INSERT INTO kombu_group (queue_id, name, probe_at, probe_seconds, rank)
            VALUES (which, flow, clock_timestamp() + make_interval(secs => 30.0), 30.0,
                    kombu_message_rank(which, flow, step))
            ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    INSERT INTO kombu_message AS m
           (visible, visible_at, delay_reason, payload, queue_id, task_id, user_id, unique_key, rank_step, rank)
    SELECT reason IS NULL,
           CASE WHEN reason IS DISTINCT FROM 'parked'
                THEN clock_timestamp() + make_interval(secs => coalesce(delay, 0)) END,
           reason, body, which, task, flow, key, step,
           CASE WHEN reason IS NULL THEN kombu_message_rank(which, flow, step) END
     WHERE which IS NOT NULL
    ON CONFLICT DO NOTHING RETURNING m.id INTO added;
    IF added IS NOT NULL AND (CASE WHEN reason = 'eta' THEN kombu_message_sooner(delay)
                                   WHEN reason IS NULL THEN kombu_message_wanted(which) END) THEN
        PERFORM pg_notify('kombu_message', hint);
    END IF;
    RETURN added;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_lease(
    which integer, most integer, owner bigint, lease double precision, from_rank bigint
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    RETURN QUERY
    UPDATE kombu_message AS m
       SET visible = false, delay_reason = NULL, started_at = NULL,
           visible_at = clock_timestamp() + make_interval(secs => lease),
           lease_token = gen_random_uuid(), lease_owner = owner, delivery_count = m.delivery_count + 1
     WHERE m.id = ANY (ARRAY(
           SELECT r.id FROM kombu_message AS r
            WHERE r.queue_id = which AND r.visible AND r.rank >= from_rank
            ORDER BY r.rank, r.id LIMIT most FOR NO KEY UPDATE SKIP LOCKED))
    RETURNING m.id, m.lease_token::text, m.payload, m.delivery_count, m.retry_count, m.snooze_count, m.lost_count,
              m.rank;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_claim(
    queue_name text, most integer, owner bigint, lease double precision, from_rank bigint, sleep integer
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    which integer := (SELECT id FROM kombu_queue WHERE name = queue_name AND paused_at IS NULL);
    got integer;
BEGIN
    IF which IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM kombu_message_lease(which, most, owner, lease, from_rank);
    GET DIAGNOSTICS got = ROW_COUNT;
    IF owner IS NULL OR sleep = (CASE WHEN got < most THEN 2 ELSE 0 END) THEN
        RETURN;
    END IF;
    IF got = most THEN
        IF sleep IN (1, 2) THEN
            PERFORM pg_advisory_unlock_shared(hashtext('kombu_message asleep'), which);
        END IF;
        deliveries := 0;
    ELSIF sleep IN (0, 3) AND NOT pg_try_advisory_lock_shared(hashtext('kombu_message asleep'), which) THEN
        deliveries := 3;
    ELSE
        deliveries := CASE WHEN pg_try_advisory_xact_lock(hashtext('kombu_message publishing'), which) THEN 2 ELSE 1 END;
        RETURN QUERY SELECT * FROM kombu_message_lease(which, most - got, owner, lease, from_rank);
    END IF;
    message_id := NULL;
    RETURN NEXT;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_give_back(ids bigint[], tokens uuid[], how text) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    touched integer[];
BEGIN
    WITH free AS MATERIALIZED (
        SELECT id FROM kombu_message WHERE id = ANY (ids) AND lease_token = ANY (tokens) FOR NO KEY UPDATE SKIP LOCKED),
    freed AS (
        UPDATE kombu_message SET
               visible = true, visible_at = clock_timestamp(),
               lease_token = NULL, lease_owner = NULL, started_at = NULL,
               lost_count = lost_count + (how = 'died' OR how = 'requeue' AND started_at IS NOT NULL)::int
         WHERE id IN (SELECT id FROM free) RETURNING queue_id)
    SELECT array_agg(DISTINCT queue_id) INTO touched FROM freed;
    PERFORM pg_notify('kombu_message', name) FROM kombu_queue WHERE id = ANY (touched);
END $$;

CREATE OR REPLACE FUNCTION kombu_message_settle(
    done bigint[], done_tokens uuid[], others bigint[], tokens uuid[], hows text[], careful boolean
) RETURNS bigint[]
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET lock_timeout = '20ms' AS $$
DECLARE
    one record;
    left_over bigint[];
BEGIN
    IF NOT careful THEN
        DELETE FROM kombu_message WHERE id = ANY (done) AND lease_token = ANY (done_tokens);
    ELSE
        DELETE FROM kombu_message WHERE id IN (
            SELECT id FROM kombu_message WHERE id = ANY (done) AND lease_token = ANY (done_tokens) FOR UPDATE SKIP LOCKED);
        left_over := (SELECT array_agg(id) FROM kombu_message WHERE id = ANY (done) AND lease_token = ANY (done_tokens));
    END IF;
    IF cardinality(others) = 0 THEN
        RETURN left_over;
    END IF;
    FOR one IN SELECT * FROM unnest(others, tokens, hows) AS ended (id, token, how) LOOP
        PERFORM FROM kombu_message WHERE id = one.id AND lease_token = one.token FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            IF EXISTS (SELECT FROM kombu_message WHERE id = one.id AND lease_token = one.token) THEN
                left_over := left_over || one.id;
            END IF;
        ELSIF one.how IN ('requeue', 'returned', 'died') THEN
            PERFORM kombu_message_give_back(ARRAY[one.id], ARRAY[one.token], one.how);
        ELSE
            WITH gone AS (DELETE FROM kombu_message WHERE id = one.id RETURNING *)
            INSERT INTO kombu_dead_letter (queue, task_id, user_id, payload, reason, delivery_count, lost_count,
                                       enqueued_at, unique_key, rank_step)
            SELECT (SELECT name FROM kombu_queue WHERE id = queue_id), task_id, user_id, payload, one.how,
                   delivery_count, lost_count, enqueued_at, unique_key, rank_step FROM gone;
        END IF;
    END LOOP;
    RETURN left_over;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_take_in(which integer, most integer) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    one record;
    headers json;
    given text;
    flow text;
    due timestamptz;
    taken integer := 0;
BEGIN
    FOR one IN SELECT id, payload, user_id FROM kombu_message
                WHERE queue_id = which AND visible AND rank IS NULL
                ORDER BY id LIMIT most FOR NO KEY UPDATE SKIP LOCKED LOOP
        BEGIN
            headers := one.payload::json -> 'headers';
            given := headers ->> 'id';
            flow := coalesce(one.user_id, headers ->> 'tenant');
            due := (headers ->> 'eta')::timestamptz;
            IF length(given) > 500 OR length(flow) > 500 OR due >= '9999-12-31' THEN
                RAISE data_exception;
            END IF;
        EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
            given := NULL;
            flow := one.user_id;
            due := NULL;
        END;
        BEGIN
            UPDATE kombu_message
               SET task_id = coalesce(task_id, given), user_id = flow,
                   visible = due IS NULL OR due <= clock_timestamp(), visible_at = greatest(due, clock_timestamp()),
                   delay_reason = CASE WHEN due > clock_timestamp() THEN 'eta' END,
                   rank = kombu_message_rank(which, flow, rank_step)
             WHERE id = one.id;
        EXCEPTION WHEN unique_violation THEN
            DELETE FROM kombu_message WHERE id = one.id;
        END;
        taken := taken + 1;
    END LOOP;
    RETURN taken;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_promote(
    which integer, since timestamptz, upto timestamptz, settled boolean, most integer
) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    moved integer;
BEGIN
    WITH late AS (
        SELECT id, user_id, lease_token FROM kombu_message
         WHERE queue_id = which AND NOT visible AND visible_at > since AND visible_at <= upto
           AND (lease_token IS NULL OR settled)
         ORDER BY visible_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED),
    due AS (
        SELECT id, lease_token IS NULL AS delayed, row_number() OVER (PARTITION BY user_id ORDER BY id) - 1 AS place
          FROM late)
    UPDATE kombu_message AS m
       SET visible = true, visible_at = clock_timestamp(), delay_reason = NULL,
           lost_count = lost_count + (started_at IS NOT NULL)::int,
           lease_token = NULL, lease_owner = NULL, started_at = NULL,
           rank = CASE WHEN due.delayed OR m.rank IS NULL
                       THEN kombu_message_rank(which, m.user_id, m.rank_step) + due.place * m.rank_step ELSE m.rank END
      FROM due WHERE m.id = due.id;
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF moved > 0 THEN
        PERFORM pg_notify('kombu_message', (SELECT name FROM kombu_queue WHERE id = which));
    END IF;
    RETURN moved;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_rescue(dead bigint, upto timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    touched integer[];
BEGIN
    WITH freed AS (
        UPDATE kombu_message
           SET visible = true, visible_at = clock_timestamp(), lost_count = lost_count + (started_at IS NOT NULL)::int,
               lease_token = NULL, lease_owner = NULL, started_at = NULL
         WHERE id = ANY (ARRAY(
               SELECT id FROM kombu_message WHERE lease_owner = dead AND visible_at > upto
                LIMIT most FOR NO KEY UPDATE SKIP LOCKED))
        RETURNING queue_id)
    SELECT array_agg(queue_id) INTO touched FROM freed;
    PERFORM pg_notify('kombu_message', name) FROM kombu_queue WHERE id = ANY (touched);
    IF NOT EXISTS (SELECT FROM kombu_message WHERE lease_owner = dead AND visible_at > upto) THEN
        DELETE FROM kombu_node WHERE lock IN (SELECT lock FROM kombu_node WHERE lock = dead FOR UPDATE SKIP LOCKED);
    END IF;
    RETURN coalesce(cardinality(touched), 0);
END $$;

CREATE OR REPLACE FUNCTION kombu_message_probe(which integer, upto timestamptz, most integer) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    flow text;
BEGIN
    FOR flow IN SELECT name FROM kombu_group WHERE queue_id = which AND probe_at <= upto
                 ORDER BY probe_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED LOOP
        UPDATE kombu_group SET probe_at = upto + make_interval(secs => probe_seconds)
         WHERE queue_id = which AND name = flow;
        PERFORM kombu_message_wake(which, flow, 1);
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_poll(
    queues text[], me bigint, settled boolean, since timestamptz,
    OUT ready text[], OUT due double precision, OUT others boolean, OUT clock timestamptz
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    one record;
    sibling bigint;
    moved integer := 0;
    coming timestamptz;
BEGIN
    clock := clock_timestamp();
    ready := ARRAY[]::text[];
    others := false;
    FOR sibling IN SELECT lock FROM kombu_node WHERE lock IS DISTINCT FROM me LOOP
        IF settled AND pg_try_advisory_xact_lock_shared(sibling) THEN
            moved := moved + kombu_message_rescue(sibling, clock, 500);
        ELSE
            others := others OR EXISTS (SELECT FROM kombu_message WHERE lease_owner = sibling AND visible_at > clock);
        END IF;
    END LOOP;
    FOR one IN SELECT id, name, paused_at, CASE WHEN since IS NULL THEN 0 ELSE rank_floor END AS lowest
                 FROM kombu_queue WHERE name = ANY (queues) ORDER BY id LOOP
        moved := moved + kombu_message_promote(one.id, coalesce(since, '-infinity'), clock, settled, 500)
                       + kombu_message_take_in(one.id, 500);
        PERFORM kombu_message_probe(one.id, clock, 500);
        IF one.paused_at IS NULL AND (SELECT true FROM kombu_message WHERE queue_id = one.id AND visible
                                         AND rank >= one.lowest ORDER BY rank LIMIT 1) THEN
            ready := ready || one.name::text;
        END IF;
        coming := least(coming, (SELECT min(probe_at) FROM kombu_group WHERE queue_id = one.id),
                        (SELECT visible_at FROM kombu_message WHERE queue_id = one.id AND NOT visible AND visible_at > clock
                          ORDER BY visible_at LIMIT 1));
    END LOOP;
    due := CASE WHEN moved >= 500 THEN 0
                WHEN coming IS NOT NULL THEN greatest(0, extract(epoch FROM coming - clock)) END;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_park(
    queue_name text, flow text, seconds double precision, task text DEFAULT NULL
) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    which integer := (SELECT id FROM kombu_queue WHERE name = queue_name);
    chosen bigint[];
    parked integer;
    unspent bigint := (SELECT rank FROM kombu_message WHERE task_id = task);
BEGIN
    SELECT array_agg(id), least(min(rank), unspent) INTO chosen, unspent FROM (
        SELECT id, rank FROM kombu_message
         WHERE queue_id = which AND coalesce(user_id, '') = flow AND visible AND rank IS NOT NULL
         ORDER BY rank DESC LIMIT 10000 FOR NO KEY UPDATE SKIP LOCKED) AS ready;
    INSERT INTO kombu_group AS g (queue_id, name, probe_at, probe_seconds, rank)
    SELECT which, flow, clock_timestamp() + make_interval(secs => seconds), seconds, unspent WHERE which IS NOT NULL
    ON CONFLICT (queue_id, name) DO UPDATE
       SET probe_at = excluded.probe_at, probe_seconds = excluded.probe_seconds, rank = least(g.rank, excluded.rank);
    UPDATE kombu_message SET visible = false, visible_at = NULL, delay_reason = 'parked', rank = NULL
     WHERE id = ANY (chosen);
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN parked;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_wake(which integer, flow text, most integer, step integer DEFAULT NULL)
RETURNS SETOF text
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    one record;
    place bigint;
BEGIN
    FOR one IN
        WITH parked AS MATERIALIZED (
            SELECT id, task_id, rank_step FROM kombu_message
             WHERE queue_id = which AND coalesce(user_id, '') = flow AND delay_reason = 'parked'
             ORDER BY id LIMIT most FOR NO KEY UPDATE SKIP LOCKED),
        snoozed AS MATERIALIZED (
            SELECT id, task_id, rank_step FROM kombu_message
             WHERE queue_id = which AND coalesce(user_id, '') = flow AND delay_reason = 'snooze'
             ORDER BY id LIMIT most FOR NO KEY UPDATE SKIP LOCKED)
        SELECT * FROM (SELECT * FROM parked UNION ALL SELECT * FROM snoozed) AS waiting ORDER BY id LIMIT most
    LOOP
        IF place IS NULL THEN
            place := greatest(kombu_message_rank(which, flow, coalesce(step, one.rank_step)),
                              (SELECT rank FROM kombu_group WHERE queue_id = which AND name = flow));
        END IF;
        UPDATE kombu_message SET visible = true, visible_at = clock_timestamp(), delay_reason = NULL, rank = place,
               rank_step = coalesce(step, rank_step)
         WHERE id = one.id;
        place := place + coalesce(step, one.rank_step);
        RETURN NEXT one.task_id;
    END LOOP;
    IF place IS NOT NULL THEN
        UPDATE kombu_group SET rank = place WHERE queue_id = which AND name = flow;
        PERFORM pg_notify('kombu_message', (SELECT name FROM kombu_queue WHERE id = which));
    END IF;
    IF NOT EXISTS (SELECT FROM kombu_message WHERE queue_id = which AND coalesce(user_id, '') = flow
                      AND delay_reason = 'parked') THEN
        DELETE FROM kombu_group WHERE (queue_id, name) IN (
            SELECT queue_id, name FROM kombu_group WHERE queue_id = which AND name = flow FOR UPDATE SKIP LOCKED);
    END IF;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_redrive(letters bigint[]) RETURNS TABLE (letter bigint, task text, outcome text)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT * FROM kombu_dead_letter WHERE id = ANY (letters) ORDER BY id FOR UPDATE SKIP LOCKED LOOP
        letter := one.id;
        task := one.task_id;
        IF NOT EXISTS (SELECT FROM kombu_queue WHERE name = one.queue) THEN
            outcome := 'no queue';
        ELSIF kombu_message_publish(one.queue, one.payload, one.task_id, one.user_id, one.unique_key, NULL, one.rank_step,
                                one.queue) IS NULL THEN
            outcome := 'in the way';
        ELSE
            DELETE FROM kombu_dead_letter WHERE id = one.id;
            outcome := 'redriven';
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_estimate(which integer, state text, flow text) RETURNS bigint
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    seen bigint;
    last integer;
BEGIN
    IF state = 'dead' THEN
        SELECT count(*), max(place) INTO seen, last FROM (
            SELECT hashint8(id) AS place FROM kombu_dead_letter
             WHERE queue = (SELECT name FROM kombu_queue WHERE id = which) AND hashint8(id) & 31 = 0
             ORDER BY hashint8(id) LIMIT 512) AS sample;
    ELSIF flow IS NULL THEN
        SELECT count(*), max(place) INTO seen, last FROM (
            SELECT hashint8(id) AS place FROM kombu_message
             WHERE queue_id = which AND coalesce(delay_reason, 'ready') = state
               AND lease_token IS NULL AND hashint8(id) & 31 = 0
             ORDER BY hashint8(id) LIMIT 512) AS sample;
    ELSE
        SELECT count(*), max(place) INTO seen, last FROM (
            SELECT hashint8(id) AS place FROM kombu_message
             WHERE queue_id = which AND coalesce(user_id, '') = flow AND coalesce(delay_reason, 'ready') = state
               AND lease_token IS NULL AND hashint8(id) & 31 = 0
             ORDER BY hashint8(id) LIMIT 512) AS sample;
    END IF;
    RETURN 32 * CASE WHEN seen < 512 THEN seen ELSE 511 / ((last::float8 + 2147483648) / 4294967296) END;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_count(
    which integer, state text, flow text, lowest bigint, most integer, OUT counted bigint, OUT oldest timestamptz
) LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    IF state = 'dead' THEN
        SELECT count(*) INTO counted FROM (
            SELECT FROM kombu_dead_letter WHERE queue = (SELECT name FROM kombu_queue WHERE id = which) LIMIT most) AS d;
    ELSIF state <> 'ready' AND flow IS NULL THEN
        SELECT count(*) INTO counted FROM (
            SELECT FROM kombu_message WHERE queue_id = which AND delay_reason = state LIMIT most) AS m;
    ELSIF state <> 'ready' THEN
        SELECT count(*) INTO counted FROM (
            SELECT FROM kombu_message
             WHERE queue_id = which AND delay_reason = state AND coalesce(user_id, '') = flow LIMIT most) AS m;
    ELSIF flow IS NULL THEN
        SELECT count(*), min(since) INTO counted, oldest FROM (
            (SELECT coalesce(visible_at, enqueued_at) AS since FROM kombu_message
              WHERE queue_id = which AND visible AND rank >= lowest ORDER BY rank LIMIT most)
            UNION ALL
            (SELECT enqueued_at FROM kombu_message WHERE queue_id = which AND visible AND rank IS NULL LIMIT most)) AS m;
    ELSE
        SELECT count(*), min(since) INTO counted, oldest FROM (
            SELECT coalesce(visible_at, enqueued_at) AS since FROM kombu_message
             WHERE queue_id = which AND coalesce(user_id, '') = flow AND visible AND rank >= lowest
             ORDER BY rank LIMIT most) AS m;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_numbers(which integer, flow text, exact integer)
RETURNS TABLE (state text, number bigint, estimated boolean, oldest timestamptz)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    crowded boolean := pg_stat_get_dead_tuples('kombu_message'::regclass) > 50000;
    lowest bigint := CASE WHEN crowded THEN (SELECT rank_floor FROM kombu_queue WHERE id = which)
                          ELSE -9223372036854775808 END;
    guess bigint;
BEGIN
    FOREACH state IN ARRAY '{ready,eta,retry,snooze,parked}'::text[] || CASE WHEN flow IS NULL THEN 'dead' END LOOP
        CONTINUE WHEN state IS NULL;
        guess := kombu_message_estimate(which, state, flow);
        estimated := guess > exact * 1.3;
        oldest := NULL;
        number := 0;
        IF NOT estimated OR state = 'ready' THEN
            SELECT c.counted, c.oldest INTO number, oldest
              FROM kombu_message_count(which, state, flow, lowest, CASE WHEN NOT estimated THEN exact + 1
                                                                    WHEN flow IS NULL THEN 500 ELSE 20 END) AS c;
        END IF;
        estimated := estimated OR number > exact OR crowded AND guess > 2 * number + 256;
        number := CASE WHEN estimated THEN greatest(guess, number) ELSE number END;
        RETURN NEXT;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_summary(
    which integer, flow text, exact integer, OUT ready bigint, OUT oldest_seconds double precision,
    OUT delayed bigint, OUT snoozed bigint, OUT parked bigint, OUT dead bigint, OUT estimated text[]
) LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    SELECT sum(n.number) FILTER (WHERE state = 'ready'),
           coalesce(greatest(0, extract(epoch FROM clock_timestamp() - max(n.oldest))), 0),
           sum(n.number) FILTER (WHERE state IN ('eta', 'retry', 'snooze')),
           sum(n.number) FILTER (WHERE state = 'snooze'),
           sum(n.number) FILTER (WHERE state = 'parked'),
           sum(n.number) FILTER (WHERE state = 'dead'),
           coalesce(array_agg(DISTINCT CASE WHEN state IN ('eta', 'retry', 'snooze') THEN 'delayed' ELSE state END)
                    FILTER (WHERE n.estimated), '{}')
      INTO ready, oldest_seconds, delayed, snoozed, parked, dead, estimated
      FROM kombu_message_numbers(which, flow, exact) AS n;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_leases(which integer, most integer) RETURNS TABLE (flow text, leased bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    crowded boolean := pg_stat_get_dead_tuples('kombu_message'::regclass) > 50000;
    since timestamptz := CASE WHEN crowded THEN clock_timestamp() - interval '5 s' ELSE '-infinity' END;
    locks bigint[] := ARRAY(SELECT lock FROM kombu_node);
BEGIN
    RETURN QUERY
    SELECT coalesce(m.user_id, ''), count(*) FROM (
        (SELECT user_id FROM kombu_message
          WHERE lease_owner = ANY (locks) AND visible_at > since AND queue_id = which LIMIT 30000)
        UNION ALL
        (SELECT user_id FROM (
            SELECT user_id, lease_token, lease_owner FROM kombu_message
             WHERE queue_id = which AND NOT visible AND visible_at > since ORDER BY visible_at LIMIT most) AS due
          WHERE lease_token IS NOT NULL AND (lease_owner IS NULL OR lease_owner <> ALL (locks)))) AS m
    GROUP BY 1;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_facts() RETURNS TABLE (
    queue text, paused boolean, ready bigint, oldest_seconds double precision, leased bigint, delayed bigint,
    snoozed bigint, parked bigint, dead bigint, estimated text[])
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    RETURN QUERY
    SELECT q.name::text, q.paused_at IS NOT NULL, n.ready, n.oldest_seconds,
           (SELECT coalesce(sum(l.leased), 0)::bigint
              FROM kombu_message_leases(q.id, CASE WHEN n.delayed > 10000 THEN 500 ELSE 30000 END) AS l),
           n.delayed, n.snoozed, n.parked, n.dead, n.estimated
      FROM kombu_queue AS q CROSS JOIN LATERAL kombu_message_summary(q.id, NULL, 10000) AS n ORDER BY q.id;
END $$;

CREATE OR REPLACE FUNCTION kombu_message_top(which integer, states text[], guesses bigint[], most integer) RETURNS TABLE (
    name text, ready bigint, delayed bigint, parked bigint, oldest timestamptz)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
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

CREATE OR REPLACE FUNCTION kombu_message_groups(queue_name text, flow text, most integer) RETURNS TABLE (
    name text, ready bigint, oldest_seconds double precision, leased bigint, delayed bigint, parked bigint,
    estimated text[])
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
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

CREATE OR REPLACE VIEW broker_queue AS
SELECT id, name, paused_at FROM kombu_queue;

CREATE OR REPLACE VIEW broker_message AS
SELECT id, queue_id, task_id,
       user_id AS group_name,
       unique_key,
       visible AS is_ready,
       visible_at AS ready_at,
       delay_reason,
       rank,
       rank_step AS step,
       lease_token, started_at, delivery_count, retry_count, snooze_count, lost_count, cancel_requested_at, enqueued_at
  FROM kombu_message;

CREATE OR REPLACE VIEW broker_group AS
SELECT queue_id, name, probe_at FROM kombu_group;

CREATE OR REPLACE VIEW broker_dead_letter AS
SELECT id, queue, task_id, user_id AS group_name, unique_key, reason, delivery_count, lost_count, enqueued_at, died_at,
       payload
  FROM kombu_dead_letter;

CREATE OR REPLACE VIEW broker_facts AS SELECT * FROM kombu_message_facts();

CREATE OR REPLACE FUNCTION broker_group_facts(queue_name text, group_name text, most integer) RETURNS TABLE (
    name text, ready bigint, oldest_seconds double precision, leased bigint, delayed bigint, parked bigint,
    estimated text[])
LANGUAGE sql STABLE AS $$
    SELECT * FROM kombu_message_groups(queue_name, group_name, most);
$$;

CREATE OR REPLACE FUNCTION broker_park(
    queue_name text, group_name text, seconds double precision, task text DEFAULT NULL
) RETURNS integer
LANGUAGE sql AS $$ SELECT kombu_message_park(queue_name, group_name, seconds, task) $$;

CREATE OR REPLACE FUNCTION broker_wake(queue_name text, group_name text, most integer, step integer DEFAULT NULL)
RETURNS SETOF text
LANGUAGE sql AS $$
    SELECT kombu_message_wake(id, group_name, most, step) FROM kombu_queue WHERE name = queue_name;
$$;

CREATE OR REPLACE FUNCTION broker_move(group_name text, old_queue text, new_queue text) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    old integer := (SELECT id FROM kombu_queue WHERE name = old_queue);
    new integer := (SELECT id FROM kombu_queue WHERE name = new_queue);
BEGIN
    IF new IS NULL THEN
        RAISE EXCEPTION 'there is no queue %', new_queue USING errcode = 'foreign_key_violation';
    END IF;
    WITH gone AS (DELETE FROM kombu_group WHERE queue_id = old AND name = group_name RETURNING probe_at, probe_seconds)
    INSERT INTO kombu_group (queue_id, name, probe_at, probe_seconds)
    SELECT new, group_name, probe_at, probe_seconds FROM gone ON CONFLICT DO NOTHING;
    WITH ready AS MATERIALIZED (
        SELECT id, rank, rank_step FROM kombu_message
         WHERE queue_id = old AND coalesce(user_id, '') = group_name AND visible AND rank IS NOT NULL
           FOR NO KEY UPDATE SKIP LOCKED),
    waiting AS MATERIALIZED (
        SELECT id, rank, rank_step FROM kombu_message
         WHERE queue_id = old AND coalesce(user_id, '') = group_name
           AND delay_reason = ANY ('{eta,retry,snooze,parked}')
           FOR NO KEY UPDATE SKIP LOCKED),
    mine AS (SELECT * FROM ready UNION ALL SELECT * FROM waiting),
    placed AS (SELECT id, sum(rank_step) OVER (ORDER BY rank, id) - rank_step AS ahead FROM mine),
    target AS MATERIALIZED (SELECT kombu_message_rank(new, group_name, 100) AS rank)
    UPDATE kombu_message m
       SET queue_id = new, rank = CASE WHEN m.visible THEN target.rank + placed.ahead END
      FROM placed, target WHERE m.id = placed.id;
    PERFORM pg_notify('kombu_message', new_queue);
END $$;

CREATE OR REPLACE FUNCTION broker_forget(group_name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE kombu_message SET user_id = NULL WHERE user_id = group_name AND lease_token IS NOT NULL;
    DELETE FROM kombu_group WHERE name = group_name;
    DELETE FROM kombu_broadcast AS b WHERE strpos(b::text, group_name) > 0;
END $$;

CREATE OR REPLACE FUNCTION broker_request_cancel(task text) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    which integer;
BEGIN
    UPDATE kombu_message
       SET cancel_requested_at = clock_timestamp(), unique_key = NULL,
           visible = visible OR lease_token IS NULL,
           visible_at = CASE WHEN lease_token IS NULL THEN clock_timestamp() ELSE visible_at END,
           rank = CASE WHEN lease_token IS NULL AND NOT visible THEN kombu_message_rank(queue_id, user_id, rank_step)
                       ELSE rank END,
           delay_reason = NULL
     WHERE task_id = task RETURNING queue_id INTO which;
    IF FOUND THEN
        PERFORM pg_notify('kombu_message', (SELECT name FROM kombu_queue WHERE id = which));
    END IF;
END $$;

CREATE OR REPLACE FUNCTION broker_pause(queue_name text, since timestamptz DEFAULT clock_timestamp()) RETURNS void
LANGUAGE sql AS $$
    UPDATE kombu_queue SET paused_at = coalesce(paused_at, since) WHERE name = queue_name;
$$;

CREATE OR REPLACE FUNCTION broker_resume(queue_name text) RETURNS void
LANGUAGE sql AS $$
    UPDATE kombu_queue SET paused_at = NULL WHERE name = queue_name;
    SELECT pg_notify('kombu_message', queue_name);
$$;

CREATE OR REPLACE FUNCTION broker_redrive(letters bigint[]) RETURNS TABLE (letter bigint, outcome text)
LANGUAGE sql AS $$ SELECT letter, outcome FROM kombu_message_redrive(letters) $$;

CREATE OR REPLACE FUNCTION broker_channel() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'kombu_message' $$;
