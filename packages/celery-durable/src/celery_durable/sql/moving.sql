-- The part of the interface (interface.sql) that holds, starts, moves and ends messages.  Each holds their rows of
-- durable_message before it changes where they stand, and waits for those of one task in the order of their ids.

-- Keep a task's messages where they are until the end of the transaction: claims skip those that are ready.  -> whether
-- there is one.  Locks: the messages, and their rows among the ready ones.  Waits for a claim of one of them.
CREATE OR REPLACE FUNCTION broker_hold(task text) RETURNS boolean
LANGUAGE plpgsql {settings} AS $$
DECLARE
    held bigint[];
BEGIN
    held := ARRAY(SELECT id FROM durable_message WHERE task_id = task ORDER BY id FOR NO KEY UPDATE);
    PERFORM durable_keep(id, false) FROM unnest(held) AS h (id);
    RETURN cardinality(held) > 0;
END $$;

-- -> the message of a delivery, no row if its lease is over: as it is now, also in a statement that has waited.  A
-- statement over broker_message says the same, but is planned each time, for 100 µs more.  Locks: none.
CREATE OR REPLACE FUNCTION broker_delivery(task text, token uuid) RETURNS TABLE (
    id bigint, queue_id integer, group_name text, cancel_requested_at timestamptz)
LANGUAGE plpgsql ROWS 1 {settings} AS $$
BEGIN
    RETURN QUERY
    SELECT m.id, m.queue_id, m.tenant, m.cancel_requested_at
      FROM durable_message AS m JOIN durable_lease AS l ON l.id = m.id
     WHERE m.task_id = task AND l.token = broker_delivery.token;
END $$;

-- The same, and hold it: until the end of the transaction nobody moves or deletes it, or ends the lease.  Locks: the
-- message.
CREATE OR REPLACE FUNCTION broker_fence(task text, token uuid) RETURNS TABLE (
    id bigint, queue_id integer, group_name text, cancel_requested_at timestamptz)
LANGUAGE plpgsql ROWS 1 {settings} AS $$
BEGIN
    SELECT m.id, m.queue_id, m.tenant, m.cancel_requested_at INTO id, queue_id, group_name, cancel_requested_at
      FROM durable_message AS m JOIN durable_lease AS l ON l.id = m.id
     WHERE m.task_id = task AND l.token = broker_fence.token FOR UPDATE OF m;
    -- In a statement of its own: it sees what became of the lease while the message was waited for.
    IF EXISTS (SELECT FROM durable_lease AS l WHERE l.id = broker_fence.id AND l.token = broker_fence.token) THEN
        RETURN NEXT;
    END IF;
END $$;

-- Write that the code of a task runs under this very lease: from this commit on the delivery counts as lost when its
-- worker dies.  -> whether the task has that lease.  An UPDATE of broker_message does the same by its trigger, which reads
-- and compares all columns: 850 µs of a processor instead of 170.  Locks: the message, then its lease.
CREATE OR REPLACE FUNCTION broker_start(task text, token uuid) RETURNS boolean
LANGUAGE plpgsql {settings} AS $$
DECLARE
    mine bigint;
BEGIN
    SELECT m.id INTO mine FROM durable_message AS m JOIN durable_lease AS l ON l.id = m.id
     WHERE m.task_id = task AND l.token = broker_start.token FOR NO KEY UPDATE OF m;
    -- In a statement of its own: it sees what became of the lease while the message was waited for.
    UPDATE durable_lease AS l SET started_at = clock_timestamp()
     WHERE l.id = mine AND l.token = broker_start.token;
    RETURN FOUND;
END $$;

-- Delete a task's messages wherever they stand, also what a node holds: what it acknowledges then changes nothing.
-- -> how many were deleted.  Locks: the messages.  Waits for a claim of one of them.
CREATE OR REPLACE FUNCTION broker_delete(task text) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
DECLARE
    gone integer := 0;
    one bigint;
BEGIN
    FOREACH one IN ARRAY ARRAY(SELECT id FROM durable_message WHERE task_id = task ORDER BY id FOR UPDATE) LOOP
        PERFORM durable_keep(one, true);
        gone := gone + durable_drop(one)::integer;
    END LOOP;
    RETURN gone;
END $$;

-- Delete the message with this lease.  -> whether it was there; with NULL it is not.  Locks: the task's messages.
CREATE OR REPLACE FUNCTION broker_finish(task text, token uuid) RETURNS boolean
LANGUAGE plpgsql {settings} AS $$
DECLARE
    one bigint;
BEGIN
    FOREACH one IN ARRAY ARRAY(SELECT id FROM durable_message WHERE task_id = task ORDER BY id FOR UPDATE) LOOP
        IF durable_keep(one, true) = token THEN
            RETURN durable_drop(one);
        END IF;
    END LOOP;
    RETURN false;
END $$;

-- Put a message that no worker holds into another group, and on its queue: ready there, or parked as a publish would
-- park it.  One that waits for its time keeps that time.  `most_ready`: as of a publish; `probe`: seconds.  Of a task
-- with messages on several queues it is the one on that queue, or else the oldest.
-- -> what it was before, 'ready' or the reason of its delay; NULL when a worker holds it, when it is gone, when there
-- is no such queue, and when a worker holds another message of the task there.  Locks: the message; the group when it
-- is parked, shared.
CREATE OR REPLACE FUNCTION broker_regroup(
    task text, new_group text, queue_name text, most_ready integer, step integer, probe double precision
) RETURNS text
LANGUAGE plpgsql {by_key} AS $$
DECLARE
    mine record;
    which integer := (SELECT id FROM durable_queue WHERE name = queue_name);
    was text;
    due timestamptz;
    reason text;
    place bigint;
BEGIN
    SELECT m.id, m.priority INTO mine FROM durable_message AS m
     WHERE m.task_id = task AND NOT EXISTS (SELECT FROM durable_lease AS l WHERE l.id = m.id)
     ORDER BY m.queue_id = which DESC, m.id LIMIT 1 FOR NO KEY UPDATE;
    IF mine.id IS NULL OR which IS NULL THEN
        RETURN NULL;
    END IF;
    BEGIN
        PERFORM FROM durable_ready AS r WHERE r.id = mine.id FOR UPDATE;  -- waits for a claim of it
        IF FOUND THEN
            was := 'ready';
        ELSE
            SELECT w.reason, w.due_at INTO was, due FROM durable_waiting AS w WHERE w.id = mine.id;
            IF was IS NULL THEN
                RETURN NULL;
            END IF;
        END IF;
        IF was IN ('retry', 'eta') THEN
            reason := was;
        ELSIF new_group IS NOT NULL THEN
            reason := durable_parks(which, new_group, most_ready, step, probe);
        END IF;
        UPDATE durable_message AS m SET queue_id = which, tenant = new_group, step = broker_regroup.step
         WHERE m.id = mine.id;
        place := durable_rank(which, new_group, step);
        DELETE FROM durable_ready WHERE id = mine.id;
        DELETE FROM durable_waiting WHERE id = mine.id;
        IF reason IS NULL THEN
            INSERT INTO durable_ready (id, queue_id, tenant, rank, priority)
            VALUES (mine.id, which, coalesce(new_group, ''), place, mine.priority);
        ELSE
            INSERT INTO durable_waiting (id, queue_id, tenant, reason, due_at, priority)
            VALUES (mine.id, which, coalesce(new_group, ''), reason, CASE WHEN reason <> 'parked' THEN due END,
                    mine.priority);
        END IF;
    EXCEPTION WHEN unique_violation THEN  -- another message of the task is there
        RETURN NULL;
    END;
    IF reason IS DISTINCT FROM 'parked' THEN
        PERFORM pg_notify('{channel}', queue_name);
    END IF;
    RETURN was;
END $$;

-- Put what waits of a group on another queue, its parked state with it.  What is ready, or waits for a limit of the old
-- queue, stands behind what of the group is there already; what is leased goes on where it is.  A message whose task has another one on that queue stays, and
-- so does a locked one: if it is parked, the group remains parked on the old queue too.  An error: there is no such
-- queue.  Locks: the group on both queues; those messages, skipping locked ones.
CREATE OR REPLACE FUNCTION broker_move(group_name text, old_queue text, new_queue text) RETURNS void
LANGUAGE plpgsql {by_key} AS $$
DECLARE
    ready tid[];
    waiting tid[];
    limited tid[];
    old integer := (SELECT id FROM durable_queue WHERE name = old_queue);
    new integer := (SELECT id FROM durable_queue WHERE name = new_queue);
    parked record;
BEGIN
    IF new IS NULL THEN
        RAISE EXCEPTION 'there is no queue %', new_queue USING errcode = 'foreign_key_violation';
    ELSIF old = new THEN
        RETURN;
    END IF;
    -- Publishers hold this row until their commit: from here on nothing more of the group is parked on the old queue.
    SELECT * INTO parked FROM kombu_group WHERE queue_id = old AND name = group_name FOR UPDATE;
    IF FOUND THEN
        INSERT INTO kombu_group AS g (queue_id, name, probe_at, probe_seconds)
        VALUES (new, group_name, parked.probe_at, parked.probe_seconds)
        ON CONFLICT (queue_id, name) DO UPDATE SET probe_at = least(g.probe_at, excluded.probe_at);
    END IF;
    FOR attempt IN 1..3 LOOP
        BEGIN
            -- Their places are read by a statement of their own: one that has waited for a lock gets the place of a row
            -- that was changed meanwhile, and only a later statement sees the row there.
            ready := ARRAY(
                SELECT r.ctid FROM durable_ready AS r JOIN durable_message AS m ON m.id = r.id
                 WHERE r.queue_id = old AND r.tenant = group_name
                   AND NOT EXISTS (SELECT FROM durable_message AS o WHERE o.task_id = m.task_id AND o.queue_id = new)
                   FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF r SKIP LOCKED);
            waiting := ARRAY(
                SELECT w.ctid FROM durable_waiting AS w JOIN durable_message AS m ON m.id = w.id
                 WHERE w.queue_id = old AND w.tenant = group_name AND w.reason = ANY ('{eta,retry,snooze,parked}')
                   AND NOT EXISTS (SELECT FROM durable_message AS o WHERE o.task_id = m.task_id AND o.queue_id = new)
                   FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF w SKIP LOCKED);
            limited := ARRAY(
                SELECT w.ctid FROM durable_waiting AS w JOIN durable_message AS m ON m.id = w.id
                 WHERE w.queue_id = old AND w.tenant = group_name AND w.reason = 'limited'
                   AND NOT EXISTS (SELECT FROM durable_message AS o WHERE o.task_id = m.task_id AND o.queue_id = new)
                   FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF w SKIP LOCKED);
            WITH delayed AS (UPDATE durable_waiting SET queue_id = new WHERE ctid = ANY (waiting) RETURNING id),
            gone AS (DELETE FROM durable_waiting WHERE ctid = ANY (limited) RETURNING id, rank),
            turns AS MATERIALIZED (
                SELECT r.id, r.ctid AS place, coalesce(r.own_rank, r.rank) AS rank, m.step, true AS is_ready,
                       NULL::smallint AS priority
                  FROM durable_ready AS r JOIN durable_message AS m ON m.id = r.id WHERE r.ctid = ANY (ready)
                UNION ALL
                SELECT g.id, NULL, g.rank, m.step, false, m.priority
                  FROM gone AS g JOIN durable_message AS m ON m.id = g.id),
            moved AS (
                UPDATE durable_message SET queue_id = new
                 WHERE id = ANY (ARRAY(SELECT id FROM delayed UNION ALL SELECT id FROM turns))),
            placed AS (
                SELECT id, place, sum(step) OVER (ORDER BY is_ready, rank, id) - step AS ahead, is_ready, priority
                  FROM turns),
            target AS MATERIALIZED (SELECT durable_rank(new, group_name, 100) AS rank),
            arrived AS (
                INSERT INTO durable_ready (id, queue_id, tenant, rank, priority)
                SELECT id, new, group_name, target.rank + ahead, priority FROM placed, target WHERE NOT is_ready
                    ON CONFLICT DO NOTHING)
            UPDATE durable_ready AS r SET queue_id = new, rank = target.rank + placed.ahead, own_rank = NULL
              FROM placed, target WHERE r.ctid = placed.place AND placed.is_ready;
            EXIT;
        EXCEPTION WHEN unique_violation THEN
            -- somebody has just published one of the tasks to that queue: the next look sees its message
            IF attempt = 3 THEN
                RAISE;
            END IF;
        END;
    END LOOP;
    PERFORM durable_group_forget(old, group_name);
    PERFORM pg_notify('{channel}', new_queue);
END $$;

-- Take a group's name out of the tables: what a worker holds of it goes on in no group.  What waits of it should have
-- been deleted or moved before; a group of which something is parked all the same stays.  Its dead letters are the
-- caller's to delete.  Its own limits are removed; a line that others use just now goes by itself later.  Reads all
-- leases.  Locks: the messages of those, the group, its limits, and its lines if they are free.
CREATE OR REPLACE FUNCTION broker_forget(group_name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    held bigint[];
BEGIN
    held := ARRAY(
        SELECT m.id FROM {schema}durable_lease AS l JOIN {schema}durable_message AS m ON m.id = l.id
         WHERE m.tenant = group_name ORDER BY m.id FOR NO KEY UPDATE OF m);
    -- A statement of its own: what has come back while it was waited for is ready, with its name, and stays so.
    UPDATE {schema}durable_message AS m SET tenant = NULL
      FROM {schema}durable_lease AS l WHERE l.id = m.id AND m.id = ANY (held);
    PERFORM {schema}durable_group_forget(queue_id, name) FROM {schema}kombu_group WHERE name = group_name;
    UPDATE {schema}durable_limit AS r SET seconds = 0, changed_at = clock_timestamp()
     WHERE r.tenant = group_name AND r.seconds > 0;
    DELETE FROM {schema}durable_line AS d
     WHERE d.tenant = group_name AND d.wake_at IS NULL AND {schema}durable_line_lock(d.limit_id, d.tenant);
    DELETE FROM {schema}kombu_broadcast AS b WHERE strpos(b::text, group_name) > 0;
END $$;

-- Ask whoever runs a task to end it: `cancel_requested_at` is set, and the unique key is free for the next one.  One
-- that waits is ready now, so that a worker ends it.  Of a task with messages on several queues, all of them.  Locks:
-- the messages, and their rows among the ready ones.  Waits for a claim of one of them.
CREATE OR REPLACE FUNCTION broker_request_cancel(task text) RETURNS void
LANGUAGE plpgsql {settings} AS $$
DECLARE
    held bigint[] := ARRAY(SELECT id FROM durable_message WHERE task_id = task ORDER BY id FOR NO KEY UPDATE);
    one record;
BEGIN
    FOR one IN
        UPDATE durable_message SET cancel_requested_at = clock_timestamp(), unique_key = NULL
         WHERE id = ANY (held) RETURNING id, queue_id, tenant, step, priority
    LOOP
        PERFORM durable_keep(one.id, false);
        DELETE FROM durable_waiting WHERE id = one.id;
        IF FOUND THEN
            INSERT INTO durable_ready (id, queue_id, tenant, rank, priority)
            VALUES (one.id, one.queue_id, coalesce(one.tenant, ''),
                    durable_rank(one.queue_id, one.tenant, one.step), one.priority)
            ON CONFLICT DO NOTHING;
        END IF;
        PERFORM pg_notify('{channel}', (SELECT name FROM durable_queue WHERE id = one.queue_id));
    END LOOP;
END $$;
