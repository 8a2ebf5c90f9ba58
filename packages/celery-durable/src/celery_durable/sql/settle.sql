-- How leases end.

-- Put leased messages back, ready where they stood.  The caller has locked the leases and their messages.  `how`: 'died',
-- the delivery counts as lost; 'requeue', it does if it had started; 'returned', it does not.  -> the queues of them
CREATE OR REPLACE FUNCTION durable_release(ids bigint[], how text) RETURNS integer[]
LANGUAGE plpgsql {by_key} AS $$
DECLARE
    touched integer[];
BEGIN
    WITH gone AS (DELETE FROM durable_lease AS l WHERE l.id = ANY (ids) RETURNING l.id, l.rank, l.started_at),
    counted AS (
        UPDATE durable_message AS m
           SET delivery_count = m.delivery_count + 1,
               lost_count = m.lost_count + (how = 'died' OR how = 'requeue' AND gone.started_at IS NOT NULL)::int
          FROM gone WHERE m.id = gone.id RETURNING m.id, m.queue_id, m.tenant, m.priority, gone.rank),
    back AS (
        INSERT INTO durable_ready (id, queue_id, tenant, rank, priority)
        SELECT id, queue_id, coalesce(tenant, ''), rank, priority FROM counted
            ON CONFLICT DO NOTHING)          -- a row too many is the message's from now on
    SELECT array_agg(DISTINCT queue_id) INTO touched FROM counted;
    RETURN coalesce(touched, '{}');
END $$;

-- Make leased messages ready again, those that nobody has locked.  `how`: as above.
CREATE OR REPLACE FUNCTION durable_give_back(ids bigint[], tokens uuid[], how text) RETURNS void
LANGUAGE plpgsql {by_key} AS $$
DECLARE
    touched integer[] := durable_release(ARRAY(
        SELECT l.id FROM durable_lease AS l JOIN durable_message AS m ON m.id = l.id
         WHERE l.id = ANY (ids) AND l.token = ANY (tokens)
           FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF l SKIP LOCKED), how);
BEGIN
    PERFORM pg_notify('{channel}', name) FROM durable_queue WHERE id = ANY (touched);
END $$;

-- Write down how deliveries ended: `done` are deleted, `others` go back to their queue or to the dead letters, as
-- `hows` says.  Each is fenced by its token.  Nobody is waited for: -> the ids that somebody else has locked, to be
-- tried again; NULL for none.  Nearly always nothing is locked, and to lock rows before they are deleted is a second
-- write of each: so without `careful` the delete is tried at once, and raises lock_not_available soon.
CREATE OR REPLACE FUNCTION durable_settle(
    done bigint[], done_tokens uuid[], others bigint[], tokens uuid[], hows text[], careful boolean
) RETURNS bigint[]
LANGUAGE plpgsql {settings} {one_plan} SET lock_timeout = '20ms' AS $$
DECLARE
    one record;
    left_over bigint[];
BEGIN
    IF NOT careful THEN
        WITH gone AS (
            DELETE FROM durable_lease WHERE id = ANY (done) AND token = ANY (done_tokens) RETURNING id)
        DELETE FROM durable_message WHERE id = ANY (ARRAY(SELECT id FROM gone));
    ELSE
        WITH free AS MATERIALIZED (
            SELECT l.id FROM durable_lease AS l
             CROSS JOIN LATERAL (SELECT d.id FROM durable_message AS d WHERE d.id = l.id FOR UPDATE SKIP LOCKED) AS m
             WHERE l.id = ANY (done) AND l.token = ANY (done_tokens) FOR UPDATE OF l SKIP LOCKED),
        gone AS (DELETE FROM durable_lease WHERE id = ANY (ARRAY(SELECT id FROM free)))
        DELETE FROM durable_message WHERE id = ANY (ARRAY(SELECT id FROM free));
        left_over := (SELECT array_agg(id) FROM durable_lease WHERE id = ANY (done) AND token = ANY (done_tokens));
    END IF;
    IF cardinality(others) = 0 THEN
        RETURN left_over;
    END IF;
    FOR one IN SELECT * FROM unnest(others, tokens, hows) AS ended (id, token, how) LOOP
        PERFORM FROM durable_lease AS l JOIN durable_message AS m ON m.id = l.id
          WHERE l.id = one.id AND l.token = one.token FOR UPDATE OF m SKIP LOCKED FOR UPDATE OF l SKIP LOCKED;
        IF NOT FOUND THEN
            IF EXISTS (SELECT FROM durable_lease WHERE id = one.id AND token = one.token) THEN
                left_over := left_over || one.id;
            END IF;
        ELSIF one.how IN ('requeue', 'returned', 'died') THEN
            PERFORM durable_give_back(ARRAY[one.id], ARRAY[one.token], one.how);
        ELSE
            DELETE FROM durable_lease WHERE id = one.id;
            WITH gone AS (DELETE FROM durable_message WHERE id = one.id RETURNING *)
            INSERT INTO kombu_dead_letter (queue, task_id, user_id, payload, reason, delivery_count, lost_count,
                                       enqueued_at, unique_key, rank_step)
            SELECT (SELECT name FROM durable_queue WHERE id = queue_id), task_id, tenant, payload, one.how,
                   delivery_count + 1, lost_count, enqueued_at, unique_key, step FROM gone;
        END IF;
    END LOOP;
    RETURN left_over;
END $$;

-- Keep a message where it stands until the end of the transaction; `deletes`: to delete it.  Each statement here sees
-- what was committed while the one before waited.  So whoever writes what a statement has read calls this, compares, and
-- leaves alone what has a lease now that it had not then, or the other way round.
-- A stricter transaction has one snapshot, and to move a message does not change its row: if that snapshot does not show
-- where the message is now, it is a serialization failure.  It has no settings of its own, see durable_place.
-- -> the token under which a node holds it; NULL: nobody does, or it is gone.  Locks: the message, and its row among the
-- ready ones.  Waits for a claim of it, which waits for nothing.
CREATE OR REPLACE FUNCTION durable_keep(message bigint, deletes boolean) RETURNS uuid
LANGUAGE plpgsql AS $$
DECLARE
    held uuid;
BEGIN
    IF deletes THEN
        PERFORM FROM durable_message WHERE id = message FOR UPDATE;
    ELSE
        PERFORM FROM durable_message WHERE id = message FOR NO KEY UPDATE;
    END IF;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT token INTO held FROM durable_lease WHERE id = message;
    IF FOUND THEN
        RETURN held;
    END IF;
    PERFORM FROM durable_ready WHERE id = message FOR UPDATE;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    SELECT token INTO held FROM durable_lease WHERE id = message;  -- it was being claimed
    IF NOT FOUND AND current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        PERFORM FROM durable_waiting WHERE id = message FOR UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'could not see where message % is now', message USING errcode = 'serialization_failure';
        END IF;
    END IF;
    RETURN held;
END $$;

-- Delete a message that the caller keeps.  Nearly always it is leased.  -> whether it was there
CREATE OR REPLACE FUNCTION durable_drop(message bigint) RETURNS boolean
LANGUAGE plpgsql {settings} AS $$
BEGIN
    DELETE FROM durable_lease WHERE id = message;
    IF NOT FOUND THEN
        DELETE FROM durable_ready WHERE id = message;
        DELETE FROM durable_waiting WHERE id = message;
    END IF;
    DELETE FROM durable_message WHERE id = message;
    RETURN FOUND;
END $$;

-- Delete the messages of tasks that no node holds, skipping what is locked and what is just being claimed.
-- -> their tasks
CREATE OR REPLACE FUNCTION durable_revoke(tasks text[]) RETURNS SETOF text
LANGUAGE plpgsql {settings} AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT id, task_id FROM durable_message WHERE task_id = ANY (tasks)
                ORDER BY id FOR UPDATE SKIP LOCKED LOOP
        WITH ready AS (
            DELETE FROM durable_ready WHERE id IN (
                SELECT id FROM durable_ready WHERE id = one.id FOR UPDATE SKIP LOCKED) RETURNING id),
        waiting AS (DELETE FROM durable_waiting WHERE id = one.id RETURNING id)
        DELETE FROM durable_message WHERE id IN (SELECT id FROM ready UNION ALL SELECT id FROM waiting);
        IF FOUND THEN
            RETURN NEXT one.task_id;
        END IF;
    END LOOP;
END $$;

-- Delete what waits on a queue, skipping locked rows.  It reads whole tables: so each statement is planned when it runs,
-- and rows are found again by their place, which nobody changes while they are locked.  -> how many
CREATE OR REPLACE FUNCTION durable_purge(queue_name text) RETURNS bigint
LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    which integer := (SELECT id FROM {schema}durable_queue WHERE name = queue_name);
    state text;
    places tid[];
    messages tid[];
    gone bigint := 0;
BEGIN
    FOREACH state IN ARRAY '{durable_ready,durable_waiting}'::text[] LOOP
        EXECUTE format('SELECT array_agg(place), array_agg(message) FROM (
                            SELECT s.ctid AS place, m.ctid AS message
                              FROM {schema}%I AS s JOIN {schema}durable_message AS m ON m.id = s.id
                             WHERE s.queue_id = $1 FOR UPDATE SKIP LOCKED) AS free', state)
           INTO places, messages USING which;
        EXECUTE format('DELETE FROM {schema}%I WHERE ctid = ANY ($1)', state) USING places;
        EXECUTE 'DELETE FROM {schema}durable_message WHERE ctid = ANY ($1)' USING messages;
        gone := gone + coalesce(cardinality(messages), 0);
    END LOOP;
    RETURN gone;
END $$;
