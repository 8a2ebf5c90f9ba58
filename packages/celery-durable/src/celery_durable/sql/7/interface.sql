-- What an application may use in statements of its own: these views and functions, and no table.  README, "SQL
-- interface", says what each is for.  Their names, columns and arguments stay; columns may be added at the end.
--
-- Each view is one table without a condition, so a statement that joins, locks or changes it is planned as one over the
-- table.  A queue's name is therefore no column of a message: to join it would lock the queue's row with the message.

CREATE OR REPLACE VIEW broker_queue AS
SELECT id, name, paused_at FROM kombu_queue;

CREATE OR REPLACE VIEW broker_message AS
SELECT id, queue_id, task_id,
       user_id AS group_name,               -- NULL: of no group
       unique_key,
       visible AS is_ready,
       visible_at AS ready_at,              -- ready since then; or then, when the delay or the lease ends; NULL: parked
       delay_reason,                        -- 'eta', 'retry', 'snooze' or 'parked'; NULL: ready or leased
       rank,                                -- its place among the ready ones; NULL: the next poll of a node ranks it
       rank_step AS step,                   -- how far it puts its group's next one behind itself
       lease_token, started_at, delivery_count, retry_count, snooze_count, lost_count, cancel_requested_at, enqueued_at,
       lease_owner AS node_id               -- NULL: not leased, or by a node without a lock
  FROM kombu_message;

CREATE OR REPLACE VIEW broker_group AS      -- the parked ones
SELECT queue_id, name, probe_at FROM kombu_group;

CREATE OR REPLACE VIEW broker_dead_letter AS
SELECT id, queue, task_id, user_id AS group_name, unique_key, reason, delivery_count, lost_count, enqueued_at, died_at,
       payload
  FROM kombu_dead_letter;

-- The nodes that hold a lock, and those that died with it and were not noticed yet.  `seen_at`: when one of the node's
-- sessions last did something; NULL: it is dead, or its sessions belong to a role whose activity the reader may not see.
CREATE OR REPLACE VIEW broker_node AS
SELECT n.lock AS id, n.name, n.since, n.poll_seconds, n.queues, n.prefetch_count,
       n.suspected_at IS NULL AND h.classid IS NOT NULL AS is_alive,
       CASE WHEN n.suspected_at IS NULL THEN h.seen_at END AS seen_at,
       n.spare_queues                       -- {queue: so many of prefetch_count it keeps free of it}; NULL: none
  FROM kombu_node AS n
  LEFT JOIN (
       SELECT l.classid, l.objid,
              max(CASE WHEN s.state = 'active' THEN clock_timestamp() ELSE s.state_change END) AS seen_at
         FROM pg_locks AS l
         LEFT JOIN pg_stat_activity AS s ON s.pid = l.pid
        WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        GROUP BY l.classid, l.objid) AS h
    ON h.classid::bigint = n.lock >> 32 AND h.objid::bigint = n.lock & 4294967295;

CREATE OR REPLACE VIEW broker_facts AS SELECT * FROM kombu_message_facts();

-- Of the groups with the most waiting, or of the one that is named; '' are the messages of no group.
CREATE OR REPLACE FUNCTION broker_group_facts(queue_name text, group_name text, most integer) RETURNS TABLE (
    name text, ready bigint, oldest_seconds double precision, leased bigint, delayed bigint, parked bigint,
    estimated text[])
LANGUAGE sql STABLE AS $$
    SELECT * FROM {schema}kombu_message_groups(queue_name, group_name, most);
$$;

-- Park a group.  `seconds`: as often one of its messages is woken in any case; `task`: of its messages one that was
-- claimed and did not run.  -> how many were parked.
CREATE OR REPLACE FUNCTION broker_park(
    queue_name text, group_name text, seconds double precision, task text DEFAULT NULL
) RETURNS integer
LANGUAGE sql AS $$ SELECT {schema}kombu_message_park(queue_name, group_name, seconds, task) $$;

-- Make the oldest waiting messages of a group ready.  `step`: theirs from now on; NULL: as they were published.
-- -> their task ids.
CREATE OR REPLACE FUNCTION broker_wake(queue_name text, group_name text, most integer, step integer DEFAULT NULL)
RETURNS SETOF text
LANGUAGE sql AS $$
    SELECT {schema}kombu_message_wake(id, group_name, most, step) FROM {schema}kombu_queue WHERE name = queue_name;
$$;

-- -> whether a node sleeps that has a process to spare.  Locks until the end of the transaction: a publisher's advisory
-- lock, shared, so that the node does not fall asleep unseen.
CREATE OR REPLACE FUNCTION broker_is_node_idle(queue_id integer) RETURNS boolean
LANGUAGE sql AS $$ SELECT {schema}kombu_message_wanted(queue_id) $$;

-- -> the rank that the next message of a group would get, were it ready now.
CREATE OR REPLACE FUNCTION broker_next_rank(queue_id integer, group_name text, step integer) RETURNS bigint
LANGUAGE plpgsql STABLE {settings} AS $$
BEGIN
    RETURN greatest(
        kombu_message_rank(queue_id, group_name, step),
        (SELECT g.rank FROM kombu_group AS g WHERE g.queue_id = broker_next_rank.queue_id
            AND g.name = broker_next_rank.group_name));
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
LANGUAGE plpgsql {settings} AS $$
DECLARE
    mine record;
    which integer := (SELECT id FROM kombu_queue WHERE name = queue_name);
    reason text;
BEGIN
    SELECT m.id, coalesce(m.delay_reason, 'ready') AS was INTO mine FROM kombu_message AS m
     WHERE m.task_id = task AND m.lease_token IS NULL
       AND (m.visible AND m.rank IS NOT NULL OR m.delay_reason IS NOT NULL)
     ORDER BY m.queue_id = which DESC, m.id LIMIT 1 FOR NO KEY UPDATE;
    IF mine.id IS NULL OR which IS NULL THEN
        RETURN NULL;
    END IF;
    BEGIN
        IF mine.was IN ('retry', 'eta') THEN
            reason := mine.was;
        ELSIF new_group IS NOT NULL THEN
            reason := kombu_message_parks(which, new_group, most_ready, step, probe);
        END IF;
        UPDATE kombu_message
           SET queue_id = which, user_id = new_group, rank_step = step, delay_reason = reason, visible = reason IS NULL,
               visible_at = CASE WHEN reason IS NULL THEN clock_timestamp() WHEN reason <> 'parked' THEN visible_at END,
               rank = CASE WHEN reason IS NULL THEN kombu_message_rank(which, new_group, step) END
         WHERE id = mine.id;
    EXCEPTION WHEN unique_violation THEN  -- another message of the task is there
        RETURN NULL;
    END;
    IF reason IS DISTINCT FROM 'parked' THEN
        PERFORM pg_notify('{channel}', queue_name);
    END IF;
    RETURN mine.was;
END $$;

-- Put what waits of a group on another queue, its parked state with it.  What is ready stands behind what of the group
-- is there already; what is leased goes on where it is.  A message whose task has another one on that queue stays, and
-- so does a locked one: if it is parked, the group remains parked on the old queue too.  An error: there is no such
-- queue.  Locks: the group on both queues; those messages, skipping locked ones.
CREATE OR REPLACE FUNCTION broker_move(group_name text, old_queue text, new_queue text) RETURNS void
LANGUAGE plpgsql {settings} AS $$
DECLARE
    old integer := (SELECT id FROM kombu_queue WHERE name = old_queue);
    new integer := (SELECT id FROM kombu_queue WHERE name = new_queue);
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
            WITH ready AS MATERIALIZED (
                SELECT id, rank, rank_step FROM kombu_message AS m
                 WHERE queue_id = old AND coalesce(user_id, '') = group_name AND visible AND rank IS NOT NULL
                   AND NOT EXISTS (SELECT FROM kombu_message AS o WHERE o.task_id = m.task_id AND o.queue_id = new)
                   FOR NO KEY UPDATE OF m SKIP LOCKED),
            waiting AS MATERIALIZED (
                SELECT id, rank, rank_step FROM kombu_message AS m
                 WHERE queue_id = old AND coalesce(user_id, '') = group_name
                   AND delay_reason = ANY ('{eta,retry,snooze,parked}')
                   AND NOT EXISTS (SELECT FROM kombu_message AS o WHERE o.task_id = m.task_id AND o.queue_id = new)
                   FOR NO KEY UPDATE OF m SKIP LOCKED),
            mine AS (SELECT * FROM ready UNION ALL SELECT * FROM waiting),
            placed AS (SELECT id, sum(rank_step) OVER (ORDER BY rank, id) - rank_step AS ahead FROM mine),
            target AS MATERIALIZED (SELECT kombu_message_rank(new, group_name, 100) AS rank)
            UPDATE kombu_message m
               SET queue_id = new, rank = CASE WHEN m.visible THEN target.rank + placed.ahead END
              FROM placed, target WHERE m.id = placed.id;
            EXIT;
        EXCEPTION WHEN unique_violation THEN
            -- somebody has just published one of the tasks to that queue: the next look sees its message
            IF attempt = 3 THEN
                RAISE;
            END IF;
        END;
    END LOOP;
    PERFORM kombu_group_forget(old, group_name);
    PERFORM pg_notify('{channel}', new_queue);
END $$;

-- Take a group's name out of the tables: what a worker holds of it goes on in no group.  What waits of it should have
-- been deleted or moved before; a group of which something is parked all the same stays.  Its dead letters are the
-- caller's to delete.  Reads all messages.  Locks: those, and the group.
CREATE OR REPLACE FUNCTION broker_forget(group_name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE {schema}kombu_message SET user_id = NULL WHERE user_id = group_name AND lease_token IS NOT NULL;
    PERFORM {schema}kombu_group_forget(queue_id, name) FROM {schema}kombu_group WHERE name = group_name;
    DELETE FROM {schema}kombu_broadcast AS b WHERE strpos(b::text, group_name) > 0;
END $$;

-- Ask whoever runs a task to end it: `cancel_requested_at` is set, and the unique key is free for the next one.  One
-- that waits is ready now, so that a worker ends it.  Of a task with messages on several queues, all of them.  Locks:
-- the messages.
CREATE OR REPLACE FUNCTION broker_request_cancel(task text) RETURNS void
LANGUAGE plpgsql {settings} AS $$
DECLARE
    which integer;
BEGIN
    FOR which IN
        UPDATE kombu_message
           SET cancel_requested_at = clock_timestamp(), unique_key = NULL,
               visible = visible OR lease_token IS NULL,
               visible_at = CASE WHEN lease_token IS NULL THEN clock_timestamp() ELSE visible_at END,
               rank = CASE WHEN lease_token IS NULL AND NOT visible THEN kombu_message_rank(queue_id, user_id, rank_step)
                           ELSE rank END,
               delay_reason = NULL
         WHERE task_id = task RETURNING queue_id
    LOOP
        PERFORM pg_notify('{channel}', (SELECT name FROM kombu_queue WHERE id = which));
    END LOOP;
END $$;

-- Give out nothing of a queue from now on; one that is paused stays so since then.
CREATE OR REPLACE FUNCTION broker_pause(queue_name text, since timestamptz DEFAULT clock_timestamp()) RETURNS void
LANGUAGE sql AS $$
    UPDATE {schema}kombu_queue SET paused_at = coalesce(paused_at, since) WHERE name = queue_name;
$$;

-- Go on with it.
CREATE OR REPLACE FUNCTION broker_resume(queue_name text) RETURNS void
LANGUAGE sql AS $$
    UPDATE {schema}kombu_queue SET paused_at = NULL WHERE name = queue_name;
    SELECT pg_notify('{channel}', queue_name);
$$;

-- Put dead letters back on their queues.  -> what became of each: 'redriven', 'in the way' or 'no queue'; a letter that
-- somebody else holds is in no row.
CREATE OR REPLACE FUNCTION broker_redrive(letters bigint[]) RETURNS TABLE (letter bigint, outcome text)
LANGUAGE sql AS $$ SELECT letter, outcome FROM {schema}kombu_message_redrive(letters) $$;

-- Where nodes listen: pg_notify(broker_channel(), queue) tells them that something of the queue became ready.
CREATE OR REPLACE FUNCTION broker_channel() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '{channel}' $$;
