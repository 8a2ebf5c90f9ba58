-- Taking messages: their leases.

-- Lease up to `most` ready messages of one queue in their order, beginning to read at a rank.  What somebody holds FOR
-- KEY SHARE, to keep it from being deleted, is not skipped.  It has the settings of the claim that calls it.
CREATE OR REPLACE FUNCTION kombu_message_lease(
    which integer, most integer, owner bigint, lease double precision, from_rank bigint
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql AS $$
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

-- As above, none of a paused or unknown queue, for a node that falls asleep when it gets fewer than it asked for.
-- `sleep`: 0 awake, 1 asleep but somebody was publishing, so look again soon, 2 asleep, 3 awake as the lock was not
-- free, so look again soon.  When that changes, the last row has no id, and the new state for its deliveries.  A claim
-- waits for no lock.
CREATE OR REPLACE FUNCTION kombu_message_claim(
    queue_name text, most integer, owner bigint, lease double precision, from_rank bigint, sleep integer
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql {settings} AS $$
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
            PERFORM pg_advisory_unlock_shared(hashtext('{channel} asleep'), which);
        END IF;
        deliveries := 0;
    ELSIF sleep IN (0, 3) AND NOT pg_try_advisory_lock_shared(hashtext('{channel} asleep'), which) THEN
        deliveries := 3;
    ELSE
        deliveries := CASE WHEN pg_try_advisory_xact_lock(hashtext('{channel} publishing'), which) THEN 2 ELSE 1 END;
        RETURN QUERY SELECT * FROM kombu_message_lease(which, most - got, owner, lease, from_rank);
    END IF;
    message_id := NULL;
    RETURN NEXT;
END $$;
