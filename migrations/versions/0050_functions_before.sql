-- The functions of celery-durable as they were at version 5 of its schema.

DROP FUNCTION kombu_group_forget, kombu_message_leave, kombu_message_transfer, kombu_message_publish_many,
    kombu_message_in_the_way, kombu_queue_add, kombu_queue_exists, kombu_queue_size;
-- whoever calls it needs rights on the tables again
GRANT EXECUTE ON FUNCTION kombu_message_publish TO PUBLIC;

-- -> 'parked' when a message of the group has to wait: the group is parked, or is so now, since `most_ready` of it are
-- ready; NULL when it does not.  Locks: a group that was parked before, against its being forgotten.
CREATE OR REPLACE FUNCTION kombu_message_parks(
    which integer, flow text, most_ready integer, step integer, probe double precision
) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM kombu_group WHERE queue_id = which AND name = flow FOR KEY SHARE SKIP LOCKED;
    IF FOUND THEN
        RETURN 'parked';
    END IF;
    IF most_ready <= (
        SELECT count(*) FROM (
            SELECT FROM kombu_message WHERE queue_id = which AND coalesce(user_id, '') = flow AND visible
               AND rank IS NOT NULL LIMIT most_ready) AS ready) THEN
        INSERT INTO kombu_group (queue_id, name, probe_at, probe_seconds, rank)
        VALUES (which, flow, clock_timestamp() + make_interval(secs => probe), probe,
                kombu_message_rank(which, flow, step))
        ON CONFLICT DO NOTHING;
        RETURN 'parked';
    END IF;
    RETURN NULL;
END $$;

-- Store a message.  `delay`: seconds, NULL for none; `hint`: the notification; `most_ready`: with so many of its group
-- ready already the group is parked, and this one waits; NULL for any number.  -> its id; NULL: a conflict, or an
-- unknown queue.  The lock on a parked group keeps it from being forgotten before this message is seen.
CREATE OR REPLACE FUNCTION kombu_message_publish(
    queue_name text, body text, task text, flow text, key text, delay double precision, step integer, hint text,
    most_ready integer DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    which integer;
    lowest bigint;
    reason text;
    place bigint;
    added bigint;
BEGIN
    SELECT id, rank_floor INTO which, lowest FROM kombu_queue WHERE name = queue_name;
    IF which IS NULL THEN
        RETURN NULL;
    END IF;
    IF delay IS NOT NULL THEN
        reason := 'eta';
    ELSIF flow IS NOT NULL THEN
        reason := kombu_message_parks(which, flow, most_ready, step, 30.0);
    END IF;
    IF reason IS NULL THEN
        place := kombu_message_place(which, lowest, flow, step);
    END IF;
    INSERT INTO kombu_message AS m
           (visible, visible_at, delay_reason, payload, queue_id, task_id, user_id, unique_key, rank_step, rank)
    VALUES (reason IS NULL,
            CASE WHEN reason IS DISTINCT FROM 'parked'
                 THEN clock_timestamp() + make_interval(secs => coalesce(delay, 0)) END,
            reason, body, which, task, flow, key, step, place)
    ON CONFLICT DO NOTHING RETURNING m.id INTO added;
    IF added IS NOT NULL AND (CASE WHEN reason = 'eta' THEN kombu_message_sooner(delay)
                                   WHEN reason IS NULL THEN kombu_message_wanted(which) END) THEN
        PERFORM pg_notify('kombu_message', hint);
    END IF;
    RETURN added;
END $$;

-- A retry in place: the leased row of a task, with its new payload, waits as it is told.  `park`: its group is parked for
-- `seconds` as well.  -> its id; NULL: the lease is lost, and nothing is changed.  Locks besides: when it parks, the
-- group, and its ready messages.
CREATE OR REPLACE FUNCTION kombu_message_retry(
    task text, token uuid, queue_name text, body text, delay double precision, snooze boolean, park boolean,
    seconds double precision, hint text
) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    mine record;
    ready boolean := delay IS NULL AND NOT park;
BEGIN
    SELECT m.id, m.user_id, m.rank_step, q.id AS queue_id, q.rank_floor INTO mine
      FROM kombu_message AS m JOIN kombu_queue AS q ON q.id = coalesce(
               (SELECT id FROM kombu_queue WHERE name = queue_name), m.queue_id)
     WHERE m.task_id = task AND m.lease_token = token FOR NO KEY UPDATE OF m;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF park THEN
        PERFORM kombu_message_park(queue_name, coalesce(mine.user_id, ''), seconds, task);
    END IF;
    UPDATE kombu_message
       SET visible = ready,
           visible_at = CASE WHEN NOT park THEN clock_timestamp() + make_interval(secs => coalesce(delay, 0)) END,
           delay_reason = CASE WHEN park THEN 'parked' WHEN ready THEN NULL WHEN snooze THEN 'snooze' ELSE 'retry' END,
           rank = CASE WHEN ready THEN kombu_message_place(mine.queue_id, mine.rank_floor, mine.user_id, mine.rank_step)
                  END,
           payload = body, queue_id = mine.queue_id, lease_token = NULL, lease_owner = NULL, started_at = NULL,
           retry_count = retry_count + (NOT snooze)::int, snooze_count = snooze_count + snooze::int
     WHERE id = mine.id;
    IF (CASE WHEN ready THEN kombu_message_wanted(mine.queue_id)
             WHEN NOT park THEN kombu_message_sooner(delay) END) THEN
        PERFORM pg_notify('kombu_message', hint);
    END IF;
    RETURN mine.id;
END $$;

-- Take in what a stock producer inserted: its task id, group and due time are in the payload.  A task that is there
-- already is not put a second time.  What cannot be read, or is no name for an index, is made ready as it is: a worker
-- will find out, and bury it; an error here would stop every node.
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

-- Park a group: what is ready of it waits to be woken, and so does what is published from now on.  Of very many the
-- youngest are parked; the others follow with the next of them that finds no room.  Every `probe_seconds` one of its
-- messages is woken in any case.  `task`: one that was claimed and did not run; its place in the order is not spent.
-- One that is to be cancelled stays ready: ending it takes none of what the group lacks.
-- -> how many were parked
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
           AND cancel_requested_at IS NULL
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

-- Make the oldest messages of a group ready that are parked or snoozed; the group is forgotten with its last parked
-- one, unless somebody is publishing to it just now.  `step`: theirs from now on; NULL: as they were published.  They
-- stand where the group's last one ended: a group that is woken one by one has its share, and not the head of the queue
-- each time.  -> their task ids
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

-- Put a message that no worker holds into another group, and on its queue: ready there, or parked as a publish would
-- park it.  One that waits for its time keeps that time.  `most_ready`: as of a publish; `probe`: seconds.
-- -> what it was before, 'ready' or the reason of its delay; NULL when a worker holds it, when it is gone, and when
-- there is no such queue.  Locks: the message; the group when it is parked, shared.
CREATE OR REPLACE FUNCTION broker_regroup(
    task text, new_group text, queue_name text, most_ready integer, step integer, probe double precision
) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    mine record;
    which integer := (SELECT id FROM kombu_queue WHERE name = queue_name);
    reason text;
BEGIN
    SELECT m.id, coalesce(m.delay_reason, 'ready') AS was INTO mine FROM kombu_message AS m
     WHERE m.task_id = task AND m.lease_token IS NULL
       AND (m.visible AND m.rank IS NOT NULL OR m.delay_reason IS NOT NULL)
       FOR NO KEY UPDATE;
    IF mine.id IS NULL OR which IS NULL THEN
        RETURN NULL;
    END IF;
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
    IF reason IS DISTINCT FROM 'parked' THEN
        PERFORM pg_notify('kombu_message', queue_name);
    END IF;
    RETURN mine.was;
END $$;

-- Put what waits of a group on another queue, its parked state with it.  What is ready stands behind what of the group
-- is there already; what is leased goes on where it is.  An error: there is no such queue.  Locks: those messages,
-- skipping locked ones.
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

-- Take a group's name out of the tables: what a worker holds of it goes on in no group.  What waits of it should have
-- been deleted or moved before; its dead letters are the caller's to delete.  Reads all messages.  Locks: those.
CREATE OR REPLACE FUNCTION broker_forget(group_name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE kombu_message SET user_id = NULL WHERE user_id = group_name AND lease_token IS NOT NULL;
    DELETE FROM kombu_group WHERE name = group_name;
    DELETE FROM kombu_broadcast AS b WHERE strpos(b::text, group_name) > 0;
END $$;

-- Ask whoever runs a task to end it: `cancel_requested_at` is set, and the unique key is free for the next one.  One
-- that waits is ready now, so that a worker ends it.  Locks: the message.
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

