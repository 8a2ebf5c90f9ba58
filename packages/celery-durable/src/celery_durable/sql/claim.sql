-- Taking messages: their leases.

-- Lease up to `most` ready messages of one queue in their order, beginning to read at a rank.  Their rows of
-- durable_message are only read: who holds one keeps nobody from claiming it.  It has the settings of the claim that
-- calls it.  OFFSET 0 keeps the planner from reading all payloads for a join.
-- Rows that are locked are found again by their place, here and in the other files: nobody changes it from then on.  By
-- their ids they might be looked for in a whole index, as after a vacuum beside an old transaction the statistics say
-- that a table with pages is empty, and then all indexes with an id are equally cheap.  The place of a row that was
-- changed just before it was locked is a new one, which the same statement does not see: such a row stays for the next
-- claim, and whoever must not leave one behind looks in a later statement.
CREATE OR REPLACE FUNCTION durable_take(
    which integer, most integer, owner bigint, lease double precision, from_rank bigint
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    WITH taken AS (
        DELETE FROM durable_ready AS r WHERE r.ctid = ANY (ARRAY(
               SELECT n.ctid FROM durable_ready AS n
                WHERE n.queue_id = which AND n.rank >= from_rank
                ORDER BY n.rank, n.id LIMIT most FOR UPDATE SKIP LOCKED))
        RETURNING r.id, r.rank),
    leased AS (
        INSERT INTO durable_lease AS l (id, queue_id, rank, token, node, until)
        SELECT t.id, which, t.rank, gen_random_uuid(), owner, clock_timestamp() + make_interval(secs => lease)
          FROM taken AS t
            ON CONFLICT DO NOTHING           -- a row too many among the ready ones ends here, and keeps nobody waiting
        RETURNING l.id, l.token, l.rank)
    SELECT l.id, l.token::text, m.payload, m.delivery_count + 1, m.retry_count, m.snooze_count, m.lost_count, l.rank
      FROM leased AS l CROSS JOIN LATERAL (SELECT * FROM durable_message AS d WHERE d.id = l.id OFFSET 0) AS m;
END $$;

-- As above, none of a paused or unknown queue, for a node that falls asleep when it gets fewer than it asked for.
-- `sleep`: 0 awake, 1 asleep but somebody was publishing, so look again soon, 2 asleep, 3 awake as the lock was not
-- free, so look again soon.  When that changes, the last row has no id, and the new state for its deliveries.  A claim
-- waits for no lock.  Its plan is that of any number of messages, see names.py.
-- Where a message is ready with a priority, each turn is taken by itself (priority.sql).  To look for one costs 4 % of a
-- claim.  So a queue without any is looked at by claims from the begin only, and the first one that finds any writes it
-- down before it takes a turn, as durable_take does not see when a turn is given to another message.  While the queue is
-- locked by somebody else its priorities wait.  Locks besides: then the queue.
-- A queue with limits is read another way (limits.sql), and one without pays for a column of its row.
CREATE OR REPLACE FUNCTION durable_claim(
    queue_name text, most integer, owner bigint, lease double precision, from_rank bigint, sleep integer
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql {settings} {one_plan} AS $$
DECLARE
    which integer;
    known boolean;
    limited boolean;
    by_turns boolean := false;
    got integer;
BEGIN
    SELECT id, has_priorities, has_limits INTO which, known, limited
      FROM durable_queue WHERE name = queue_name AND paused_at IS NULL;
    IF which IS NULL THEN
        RETURN;
    ELSIF limited THEN
        RETURN QUERY SELECT * FROM durable_claim_limited(which, queue_name, most, owner, lease, from_rank, sleep);
        RETURN;
    END IF;
    IF known OR from_rank = 0 THEN
        by_turns := EXISTS (
            SELECT FROM durable_ready WHERE queue_id = which AND rank >= from_rank AND priority IS NOT NULL);
    END IF;
    IF by_turns AND NOT known THEN
        UPDATE durable_queue SET has_priorities = true
         WHERE id IN (SELECT id FROM durable_queue WHERE id = which FOR NO KEY UPDATE SKIP LOCKED);
        by_turns := FOUND;
    END IF;
    IF by_turns THEN
        RETURN QUERY SELECT * FROM durable_take_turns(which, most, owner, lease, from_rank);
    ELSE
        RETURN QUERY SELECT * FROM durable_take(which, most, owner, lease, from_rank);
    END IF;
    GET DIAGNOSTICS got = ROW_COUNT;
    IF owner IS NULL OR sleep = (CASE WHEN got < most THEN 2 ELSE 0 END) THEN
        RETURN;
    END IF;
    IF got = most THEN
        IF sleep IN (1, 2) THEN
            PERFORM pg_advisory_unlock_shared(hashtext('{channel} asleep'), which);
        END IF;
        deliveries := 0;
    ELSIF sleep IN (0, 3) AND NOT pg_try_advisory_lock_shared(hashtext('{channel} asleep'), which) THEN
        deliveries := 3;
    ELSE
        deliveries := CASE WHEN pg_try_advisory_xact_lock(hashtext('{channel} publishing'), which) THEN 2 ELSE 1 END;
        IF by_turns THEN
            RETURN QUERY SELECT * FROM durable_take_turns(which, most - got, owner, lease, from_rank);
        ELSE
            RETURN QUERY SELECT * FROM durable_take(which, most - got, owner, lease, from_rank);
        END IF;
    END IF;
    message_id := NULL;
    RETURN NEXT;
END $$;
