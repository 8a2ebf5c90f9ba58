-- The functions, and a view, of celery-durable as they were at version 6 of its schema.  Both that judge nodes
-- try the lock alone: a node of version 7 that still runs holds it in shared mode.

DROP FUNCTION kombu_message_judge;

-- Forget a node that stops, and each dead one, unless a lease names it: other nodes find the message by the name.  The
-- node may be the last one, so it forgets its own sessions from before a restart of the server, too.  That a lock is
-- free is seen before the statement that looks for leases: that one sees what a session claimed just before its end.
-- Locks: each dead node's advisory lock, shared, until the end; the names, skipping locked ones.
CREATE OR REPLACE FUNCTION kombu_message_leave(me bigint) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
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

-- The look of an idle node: promote what is due, give back what dead nodes held, and say what comes next.
-- `since`: promote only what became due after it, and look for ready ones above the floor only; NULL: look at all.
-- `settled` is false just after a reconnect: when the server went away every node lost its lock, so nobody may be
-- judged dead before all had time to come back.
-- `prefetch_count`: what the node takes at once; it is written down with its queues whenever either has changed.
-- -> (queues with ready messages, seconds until the next is due or NULL, does another node hold leases, the clock)
-- Locks besides: each dead node's advisory lock, shared, until the end.
CREATE OR REPLACE FUNCTION kombu_message_poll(
    queues text[], me bigint, settled boolean, since timestamptz, prefetch_count integer DEFAULT NULL,
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
    UPDATE kombu_node AS n SET queues = kombu_message_poll.queues, prefetch_count = kombu_message_poll.prefetch_count
     WHERE n.lock = me AND (n.queues, n.prefetch_count)
           IS DISTINCT FROM (kombu_message_poll.queues, kombu_message_poll.prefetch_count);
    FOR sibling IN SELECT lock FROM kombu_node WHERE lock IS DISTINCT FROM me LOOP
        IF settled AND pg_try_advisory_xact_lock(sibling) THEN
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

-- The nodes that hold a lock, and those that died with it and were not noticed yet.  `seen_at`: when the node's session
-- last did something; NULL: it is dead, or its session belongs to a role whose activity the reader may not see.
CREATE OR REPLACE VIEW broker_node AS
SELECT n.lock AS id, n.name, n.since, n.poll_seconds, n.queues, n.prefetch_count,
       l.pid IS NOT NULL AS is_alive,
       CASE WHEN s.state = 'active' THEN clock_timestamp() ELSE s.state_change END AS seen_at,
       n.spare_queues                       -- {queue: so many of prefetch_count it keeps free of it}; NULL: none
  FROM kombu_node AS n
  LEFT JOIN pg_locks AS l
    ON l.locktype = 'advisory' AND l.objsubid = 1 AND l.mode = 'ExclusiveLock' AND l.granted
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND l.classid::bigint = n.lock >> 32 AND l.objid::bigint = n.lock & 4294967295
  LEFT JOIN pg_stat_activity AS s ON s.pid = l.pid;
