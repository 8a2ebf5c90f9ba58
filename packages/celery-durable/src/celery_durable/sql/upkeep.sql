-- The functions that make messages ready again: what is due, held by dead nodes, parked, limited, or given up.
--
-- Locks of each: the rows it changes and those of their messages, skipping locked ones.

-- What is due becomes ready: a delay with a rank of now, as a publish would give it, the same for all that are due; a
-- lost lease with the one it had.  -> how many
CREATE OR REPLACE FUNCTION durable_promote(
    which integer, since timestamptz, upto timestamptz, settled boolean, most integer
) RETURNS integer
LANGUAGE plpgsql {by_key} AS $$
DECLARE
    lowest bigint := (SELECT rank_floor FROM durable_queue WHERE id = which);
    moved integer;
    late tid[];
    lost bigint[];
BEGIN
    -- by a statement of its own, as in broker_move
    late := ARRAY(
        SELECT w.ctid FROM durable_waiting AS w JOIN durable_message AS m ON m.id = w.id
         WHERE w.queue_id = which AND w.due_at > since AND w.due_at <= upto
         ORDER BY w.due_at LIMIT most FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF w SKIP LOCKED);
    WITH gone AS (DELETE FROM durable_waiting WHERE ctid = ANY (late) RETURNING id, tenant),
    named AS (
        SELECT g.id, g.tenant, m.step, m.priority
          FROM gone AS g CROSS JOIN LATERAL (SELECT * FROM durable_message AS d WHERE d.id = g.id OFFSET 0) AS m),
    head AS MATERIALIZED (
        SELECT coalesce((SELECT r.rank FROM durable_ready AS r WHERE r.queue_id = which AND r.rank >= lowest
                          ORDER BY r.rank LIMIT 1),
                        greatest(lowest, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)) AS rank),
    due AS (
        SELECT l.id, l.tenant, l.priority, coalesce(
                   (SELECT r.rank + l.step FROM durable_ready AS r
                     WHERE r.queue_id = which AND (r.tenant, r.rank) >= (l.tenant, lowest) AND r.tenant <= l.tenant
                     ORDER BY r.tenant DESC, r.rank DESC LIMIT 1), head.rank) AS rank,
               l.step * (row_number() OVER (PARTITION BY l.tenant ORDER BY l.id) - 1) AS ahead
          FROM named AS l CROSS JOIN head)
    INSERT INTO durable_ready (id, queue_id, tenant, rank, priority)
    SELECT id, which, tenant, rank + ahead, priority FROM due
        ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF settled AND moved < most THEN
        lost := ARRAY(
            SELECT l.id FROM durable_lease AS l JOIN durable_message AS m ON m.id = l.id
             WHERE l.queue_id = which AND l.until > since AND l.until <= upto
             ORDER BY l.until LIMIT most - moved FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF l SKIP LOCKED);
        IF cardinality(lost) > 0 THEN
            PERFORM durable_release(lost, 'requeue');
            moved := moved + cardinality(lost);
        END IF;
        -- A lease without a message would be counted for ever; the message was deleted by who did not see where it stands.
        DELETE FROM durable_lease WHERE id = ANY (ARRAY(
            SELECT l.id FROM durable_lease AS l WHERE l.queue_id = which AND l.until > since AND l.until <= upto
               AND NOT EXISTS (SELECT FROM durable_message AS m WHERE m.id = l.id) LIMIT most FOR UPDATE SKIP LOCKED));
    END IF;
    IF moved > 0 THEN
        PERFORM pg_notify('{channel}', (SELECT name FROM durable_queue WHERE id = which));
    END IF;
    RETURN moved;
END $$;

-- Take a lease away from its holder, and give it back: it raises what the database refuses at present, and changes
-- nothing.  Locks: the lease and its message, for a moment.
CREATE OR REPLACE FUNCTION durable_rehearse() RETURNS void
LANGUAGE plpgsql {settings} AS $$
BEGIN
    PERFORM durable_release(ARRAY(
        SELECT l.id FROM durable_lease AS l JOIN durable_message AS m ON m.id = l.id
         LIMIT 1 FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF l SKIP LOCKED),
        'requeue');
    RAISE EXCEPTION USING errcode = 'BR000';
EXCEPTION WHEN SQLSTATE 'BR000' THEN         -- an exception gives back what its block did
    NULL;
END $$;

-- Take back what a dead node held, and forget the node with the last of it.  What is locked follows later.  -> how many
CREATE OR REPLACE FUNCTION durable_rescue(dead bigint, upto timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql {by_key} AS $$
DECLARE
    lost bigint[] := ARRAY(
        SELECT l.id FROM durable_lease AS l JOIN durable_message AS m ON m.id = l.id
         WHERE l.node = dead AND l.until > upto LIMIT most
           FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF l SKIP LOCKED);
    touched integer[] := durable_release(lost, 'requeue');
BEGIN
    PERFORM pg_notify('{channel}', name) FROM durable_queue WHERE id = ANY (touched);
    IF NOT EXISTS (SELECT FROM durable_lease WHERE node = dead AND until > upto) THEN
        DELETE FROM kombu_node WHERE lock IN (SELECT lock FROM kombu_node WHERE lock = dead FOR UPDATE SKIP LOCKED);
    END IF;
    RETURN cardinality(lost);
END $$;

-- Forget a node that stops, and each dead one, unless a lease names it: other nodes find the message by the name.  The
-- node may be the last one, so it forgets its own sessions from before a restart of the server, too.  That a lock is
-- free is seen before the statement that looks for leases: that one sees what a session claimed just before its end.
-- Locks: each free lock of a node, until the end; the names, skipping locked ones.
CREATE OR REPLACE FUNCTION durable_leave(me bigint) RETURNS void
LANGUAGE plpgsql {settings} AS $$
DECLARE
    one bigint;
BEGIN
    FOR one IN SELECT lock FROM kombu_node LOOP
        IF one = me OR pg_try_advisory_xact_lock(one) THEN
            DELETE FROM kombu_node WHERE lock IN (SELECT lock FROM kombu_node WHERE lock = one FOR UPDATE SKIP LOCKED)
               AND NOT EXISTS (
                     SELECT FROM durable_lease WHERE node = one AND until > clock_timestamp());
        END IF;
    END LOOP;
END $$;

-- Wake one message of each parked group that was left alone for too long.
CREATE OR REPLACE FUNCTION durable_probe(which integer, upto timestamptz, most integer) RETURNS void
LANGUAGE plpgsql {settings} AS $$
DECLARE
    of_tenant text;
BEGIN
    FOR of_tenant IN SELECT name FROM kombu_group WHERE queue_id = which AND probe_at <= upto
                 ORDER BY probe_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED LOOP
        UPDATE kombu_group SET probe_at = upto + make_interval(secs => probe_seconds)
         WHERE queue_id = which AND name = of_tenant;
        PERFORM durable_wake(which, of_tenant, 1);
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
CREATE OR REPLACE FUNCTION durable_judge(
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
        held := EXISTS (SELECT FROM durable_lease WHERE node = sibling AND until > clock);
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
                moved := moved + durable_rescue(sibling, clock, {batch});
            ELSE
                doubted := doubted OR held;
            END IF;
        END IF;
    END LOOP;
    UPDATE kombu_judgement
       SET judged_at = clock, any_leases = others
           OR EXISTS (SELECT FROM durable_lease WHERE node = me AND until > clock)
     WHERE only_one IN (SELECT only_one FROM kombu_judgement FOR NO KEY UPDATE SKIP LOCKED);
END $$;

-- The look of an idle node: promote what is due, judge the other nodes, and say what comes next.
-- `since`: promote only what became due after it, and look for ready ones above the floor only; NULL: look at all.
-- `settled` is false just after a reconnect: when the server went away every node lost its lock, so nobody may be
-- judged dead before all had time to come back.
-- `prefetch_count`: what the node takes at once; it is written down with its queues whenever either has changed.
-- -> (queues with ready messages, seconds until the next is due or NULL, does another node hold leases, the clock)
-- Locks besides: those of judging, and of limits.
CREATE OR REPLACE FUNCTION durable_poll(
    queues text[], me bigint, settled boolean, since timestamptz, prefetch_count integer DEFAULT NULL,
    OUT ready text[], OUT due double precision, OUT others boolean, OUT clock timestamptz
) LANGUAGE plpgsql {settings} AS $$
DECLARE
    one record;
    moved integer;
    called integer;
    has_lines boolean;
    coming timestamptz;
BEGIN
    clock := clock_timestamp();
    ready := ARRAY[]::text[];
    UPDATE kombu_node AS n SET queues = durable_poll.queues, prefetch_count = durable_poll.prefetch_count
     WHERE n.lock = me AND (n.queues, n.prefetch_count)
           IS DISTINCT FROM (durable_poll.queues, durable_poll.prefetch_count);
    -- Later than who watches: the second look would wait for the watcher's next turn if a poll took the first one.
    SELECT j.others, j.moved INTO others, moved FROM durable_judge(me, settled, 1.1) AS j;
    FOR one IN SELECT id, name, paused_at, has_limits, CASE WHEN since IS NULL THEN 0 ELSE rank_floor END AS lowest
                 FROM durable_queue WHERE name = ANY (queues) ORDER BY id LOOP
        moved := moved + durable_promote(one.id, coalesce(since, '-infinity'), clock, settled, {batch});
        PERFORM durable_probe(one.id, clock, {batch});
        -- A claim may put messages in the line of a limit that was removed while it ran.
        has_lines := one.has_limits
                  OR EXISTS (SELECT FROM durable_line WHERE queue_id = one.id AND wake_at IS NOT NULL)
                  OR EXISTS (SELECT FROM durable_line WHERE queue_id = one.id AND wake_at IS NULL);
        IF has_lines THEN
            PERFORM durable_keep_limits(one.id, clock, since IS NULL);
        END IF;
        IF has_lines AND one.paused_at IS NULL THEN
            called := cardinality((durable_wake_lines(one.id, coalesce(since, '-infinity'), 100)).messages);
            IF called > 0 THEN
                PERFORM pg_notify('{channel}', one.name);
            END IF;
            -- Who claims from the queue comes when the time has come; this is for when nobody does.
            coming := least(coming, (
                SELECT greatest(l.wake_at, clock) + CASE WHEN l.wake_at > clock THEN interval '1 s'
                                                         ELSE interval '0.01 s' END
                  FROM durable_line AS l WHERE l.queue_id = one.id AND l.wake_at > coalesce(since, '-infinity')
                 ORDER BY l.wake_at LIMIT 1));
        END IF;
        IF one.paused_at IS NULL AND (SELECT true FROM durable_ready WHERE queue_id = one.id AND rank >= one.lowest
                                       ORDER BY rank LIMIT 1) THEN
            ready := ready || one.name::text;
        END IF;
        coming := least(coming, (SELECT min(probe_at) FROM kombu_group WHERE queue_id = one.id),
                        (SELECT due_at FROM durable_waiting WHERE queue_id = one.id AND due_at > clock
                          ORDER BY due_at LIMIT 1),
                        (SELECT until FROM durable_lease WHERE queue_id = one.id AND until > clock
                          ORDER BY until LIMIT 1));
    END LOOP;
    due := CASE WHEN moved >= {batch} THEN 0
                WHEN coming IS NOT NULL THEN greatest(0, extract(epoch FROM coming - clock)) END;
END $$;
