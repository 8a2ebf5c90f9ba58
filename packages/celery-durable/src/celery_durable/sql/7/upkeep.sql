-- The functions that make messages ready again: what is due, held by dead nodes, parked, or given up.
--
-- Locks of each: the message rows it changes, skipping locked ones.

-- Rank what has no rank yet.  One that has a time was published in a serializable transaction, and lacks nothing else.
-- Of one that a stock producer inserted, task id, group and due time are in the payload.  A task that is on the queue
-- already is not put there a second time.  What cannot be read, or is no name for an index, is made ready as it is: a worker
-- will find out, and bury it; an error here would stop every node.
CREATE OR REPLACE FUNCTION kombu_message_take_in(which integer, most integer) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
DECLARE
    one record;
    headers json;
    given text;
    flow text;
    due timestamptz;
    taken integer := 0;
BEGIN
    FOR one IN SELECT id, payload, user_id, visible_at FROM kombu_message
                WHERE queue_id = which AND visible AND rank IS NULL
                ORDER BY id LIMIT most FOR NO KEY UPDATE SKIP LOCKED LOOP
        taken := taken + 1;
        IF one.visible_at IS NOT NULL THEN
            UPDATE kombu_message SET rank = kombu_message_rank(which, user_id, rank_step) WHERE id = one.id;
            CONTINUE;
        END IF;
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
    END LOOP;
    RETURN taken;
END $$;

-- What is due becomes ready: a delay with a rank of now, a lost lease with the one it had.  -> how many
CREATE OR REPLACE FUNCTION kombu_message_promote(
    which integer, since timestamptz, upto timestamptz, settled boolean, most integer
) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
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
        PERFORM pg_notify('{channel}', (SELECT name FROM kombu_queue WHERE id = which));
    END IF;
    RETURN moved;
END $$;

-- Take back what a dead node held, and forget the node with the last of it.  What is locked follows later.  -> how many
CREATE OR REPLACE FUNCTION kombu_message_rescue(dead bigint, upto timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
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
    PERFORM pg_notify('{channel}', name) FROM kombu_queue WHERE id = ANY (touched);
    IF NOT EXISTS (SELECT FROM kombu_message WHERE lease_owner = dead AND visible_at > upto) THEN
        DELETE FROM kombu_node WHERE lock IN (SELECT lock FROM kombu_node WHERE lock = dead FOR UPDATE SKIP LOCKED);
    END IF;
    RETURN coalesce(cardinality(touched), 0);
END $$;

-- Forget a node that stops, and each dead one, unless a lease names it: other nodes find the message by the name.  The
-- node may be the last one, so it forgets its own sessions from before a restart of the server, too.  That a lock is
-- free is seen before the statement that looks for leases: that one sees what a session claimed just before its end.
-- Locks: each free lock of a node, until the end; the names, skipping locked ones.
CREATE OR REPLACE FUNCTION kombu_message_leave(me bigint) RETURNS void
LANGUAGE plpgsql {settings} AS $$
DECLARE
    one bigint;
BEGIN
    FOR one IN SELECT lock FROM kombu_node LOOP
        IF one = me OR pg_try_advisory_xact_lock(one) THEN
            DELETE FROM kombu_node WHERE lock IN (SELECT lock FROM kombu_node WHERE lock = one FOR UPDATE SKIP LOCKED)
               AND NOT EXISTS (
                     SELECT FROM kombu_message WHERE lease_owner = one AND visible_at > clock_timestamp());
        END IF;
    END LOOP;
END $$;

-- Wake one message of each parked group that was left alone for too long.
CREATE OR REPLACE FUNCTION kombu_message_probe(which integer, upto timestamptz, most integer) RETURNS void
LANGUAGE plpgsql {settings} AS $$
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

-- Judge the other nodes.  A node is dead when its lock was free in two looks a second apart: all its sessions had ended,
-- and in that second it took the lock in none.  The first look writes down the doubt, a new session of the node takes
-- that back (statements.py, NAME), and the second look, of any node, takes back what the dead one held.
-- One node judges for all, once in a second: who comes sooner gets the last answer, so that the cost of a thousand nodes
-- is not their square.
-- `settled`: see the poll; `after`: judge if nobody did for so many seconds; 0: in any case.
-- -> (does another node hold leases, NULL when nobody did a moment ago; does one that is in doubt; how many were rescued;
-- how many seconds ago they were judged)
-- Locks: the row of the judgement, each free lock of a node, until the end, and the nodes' rows, skipping locked ones.
CREATE OR REPLACE FUNCTION kombu_message_judge(
    me bigint, settled boolean, after double precision, OUT others boolean, OUT doubted boolean, OUT moved integer,
    OUT ago double precision
) LANGUAGE plpgsql {settings} AS $$
DECLARE
    clock timestamptz := clock_timestamp();
    is_due boolean;
    held boolean;
    sibling bigint;
    doubted_at timestamptz;
BEGIN
    doubted := false;
    moved := 0;
    SELECT judged_at NOT BETWEEN clock - make_interval(secs => after) AND clock, nullif(any_leases, false),
           greatest(0, extract(epoch FROM clock - judged_at))
      INTO is_due, others, ago FROM kombu_judgement;
    IF NOT FOUND THEN
        INSERT INTO kombu_judgement VALUES (clock, false) ON CONFLICT DO NOTHING;
    END IF;
    IF is_due AND settled THEN
        PERFORM FROM kombu_judgement FOR NO KEY UPDATE SKIP LOCKED;
        is_due := FOUND;
        ago := 0;                            -- here, or by another node at this moment
    END IF;
    IF NOT settled OR NOT coalesce(is_due, true) THEN
        doubted := settled AND after = 0;    -- ask again: while another node judges, its locks look like lives
        RETURN;
    END IF;
    ago := 0;
    others := false;
    FOR sibling IN SELECT lock FROM kombu_node WHERE lock IS DISTINCT FROM me LOOP
        held := EXISTS (SELECT FROM kombu_message WHERE lease_owner = sibling AND visible_at > clock);
        others := others OR held;
        IF pg_try_advisory_xact_lock(sibling) THEN
            -- Not before: the node may have been back since the loop began.
            SELECT suspected_at INTO doubted_at FROM kombu_node WHERE lock = sibling FOR NO KEY UPDATE SKIP LOCKED;
            IF NOT FOUND THEN
                CONTINUE;
            ELSIF doubted_at IS NULL THEN
                UPDATE kombu_node SET suspected_at = clock WHERE lock = sibling;
                doubted := doubted OR held;
            ELSIF doubted_at <= clock - interval '0.95 s' THEN -- the asker's clock may be a little faster
                moved := moved + kombu_message_rescue(sibling, clock, {batch});
            ELSE
                doubted := doubted OR held;
            END IF;
        END IF;
    END LOOP;
    UPDATE kombu_judgement
       SET judged_at = clock, any_leases = others
           OR EXISTS (SELECT FROM kombu_message WHERE lease_owner = me AND visible_at > clock)
     WHERE only_one IN (SELECT only_one FROM kombu_judgement FOR NO KEY UPDATE SKIP LOCKED);
END $$;

-- The look of an idle node: promote what is due, judge the other nodes, and say what comes next.
-- `since`: promote only what became due after it, and look for ready ones above the floor only; NULL: look at all.
-- `settled` is false just after a reconnect: when the server went away every node lost its lock, so nobody may be
-- judged dead before all had time to come back.
-- `prefetch_count`: what the node takes at once; it is written down with its queues whenever either has changed.
-- -> (queues with ready messages, seconds until the next is due or NULL, does another node hold leases, the clock)
-- Locks besides: those of judging.
CREATE OR REPLACE FUNCTION kombu_message_poll(
    queues text[], me bigint, settled boolean, since timestamptz, prefetch_count integer DEFAULT NULL,
    OUT ready text[], OUT due double precision, OUT others boolean, OUT clock timestamptz
) LANGUAGE plpgsql {settings} AS $$
DECLARE
    one record;
    moved integer;
    coming timestamptz;
BEGIN
    clock := clock_timestamp();
    ready := ARRAY[]::text[];
    UPDATE kombu_node AS n SET queues = kombu_message_poll.queues, prefetch_count = kombu_message_poll.prefetch_count
     WHERE n.lock = me AND (n.queues, n.prefetch_count)
           IS DISTINCT FROM (kombu_message_poll.queues, kombu_message_poll.prefetch_count);
    -- Later than who watches: the second look would wait for the watcher's next turn if a poll took the first one.
    SELECT j.others, j.moved INTO others, moved FROM kombu_message_judge(me, settled, 1.1) AS j;
    FOR one IN SELECT id, name, paused_at, CASE WHEN since IS NULL THEN 0 ELSE rank_floor END AS lowest
                 FROM kombu_queue WHERE name = ANY (queues) ORDER BY id LOOP
        moved := moved + kombu_message_promote(one.id, coalesce(since, '-infinity'), clock, settled, {batch})
                       + kombu_message_take_in(one.id, {batch});
        PERFORM kombu_message_probe(one.id, clock, {batch});
        IF one.paused_at IS NULL AND (SELECT true FROM kombu_message WHERE queue_id = one.id AND visible
                                         AND rank >= one.lowest ORDER BY rank LIMIT 1) THEN
            ready := ready || one.name::text;
        END IF;
        coming := least(coming, (SELECT min(probe_at) FROM kombu_group WHERE queue_id = one.id),
                        (SELECT visible_at FROM kombu_message WHERE queue_id = one.id AND NOT visible AND visible_at > clock
                          ORDER BY visible_at LIMIT 1));
    END LOOP;
    due := CASE WHEN moved >= {batch} THEN 0
                WHEN coming IS NOT NULL THEN greatest(0, extract(epoch FROM coming - clock)) END;
END $$;
