-- How leases end.

-- Make leased messages ready again, those that nobody has locked.  `how`: 'died', the delivery counts as lost;
-- 'requeue', it does if it had started; 'returned', it does not.
CREATE OR REPLACE FUNCTION kombu_message_give_back(ids bigint[], tokens uuid[], how text) RETURNS void
LANGUAGE plpgsql {settings} AS $$
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
    PERFORM pg_notify('{channel}', name) FROM kombu_queue WHERE id = ANY (touched);
END $$;

-- Write down how deliveries ended: `done` are deleted, `others` go back to their queue or to the dead letters, as
-- `hows` says.  Each is fenced by its token.  Nobody is waited for: -> the ids that somebody else has locked, to be
-- tried again; NULL for none.  Nearly always nothing is locked, and to lock rows before they are deleted is a second
-- write of each: so without `careful` the delete is tried at once, and raises lock_not_available soon.
CREATE OR REPLACE FUNCTION kombu_message_settle(
    done bigint[], done_tokens uuid[], others bigint[], tokens uuid[], hows text[], careful boolean
) RETURNS bigint[]
LANGUAGE plpgsql {settings} SET lock_timeout = '20ms' AS $$
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
