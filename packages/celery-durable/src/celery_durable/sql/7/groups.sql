-- Groups at their limit: parked, and woken.  Locks of each: the message rows it changes, skipping locked ones.

-- Park a group: what is ready of it waits to be woken, and so does what is published from now on.  Of very many the
-- youngest are parked; the others follow with the next of them that finds no room.  Every `probe_seconds` one of its
-- messages is woken in any case.  `task`: one that was claimed and did not run; its place in the order is not spent.
-- One that is to be cancelled stays ready: ending it takes none of what the group lacks.
-- -> how many were parked
CREATE OR REPLACE FUNCTION kombu_message_park(
    queue_name text, flow text, seconds double precision, task text DEFAULT NULL
) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
DECLARE
    which integer := (SELECT id FROM kombu_queue WHERE name = queue_name);
    chosen bigint[];
    parked integer;
    unspent bigint := (SELECT rank FROM kombu_message WHERE task_id = task AND queue_id = which);
BEGIN
    SELECT array_agg(id), least(min(rank), unspent) INTO chosen, unspent FROM (
        SELECT id, rank FROM kombu_message
         WHERE queue_id = which AND coalesce(user_id, '') = flow AND visible AND rank IS NOT NULL
           AND cancel_requested_at IS NULL
         ORDER BY rank DESC LIMIT {most_parked} FOR NO KEY UPDATE SKIP LOCKED) AS ready;
    INSERT INTO kombu_group AS g (queue_id, name, probe_at, probe_seconds, rank)
    SELECT which, flow, clock_timestamp() + make_interval(secs => seconds), seconds, unspent WHERE which IS NOT NULL
    ON CONFLICT (queue_id, name) DO UPDATE
       SET probe_at = excluded.probe_at, probe_seconds = excluded.probe_seconds, rank = least(g.rank, excluded.rank);
    UPDATE kombu_message SET visible = false, visible_at = NULL, delay_reason = 'parked', rank = NULL
     WHERE id = ANY (chosen);
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN parked;
END $$;

-- Forget a parked group of which nothing is parked any more.  A publisher that parks a message locks the group's row
-- until its commit, and only a statement that begins after that commit sees the message.  So the row is locked first,
-- and a later statement looks once more; while some publisher holds the row, the group stays.  A transaction of a
-- stricter level has one snapshot for all its statements: it leaves the group to the next probe, as no group may be
-- forgotten while a message of it is parked.  Locks: the group, unless it is locked.
CREATE OR REPLACE FUNCTION kombu_group_forget(which integer, flow text) RETURNS void
LANGUAGE plpgsql {settings} AS $$
BEGIN
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable')
       OR EXISTS (SELECT FROM kombu_message WHERE queue_id = which AND coalesce(user_id, '') = flow
                     AND delay_reason = 'parked') THEN
        RETURN;
    END IF;
    PERFORM FROM kombu_group WHERE queue_id = which AND name = flow FOR UPDATE SKIP LOCKED;
    IF FOUND AND NOT EXISTS (SELECT FROM kombu_message WHERE queue_id = which AND coalesce(user_id, '') = flow
                                AND delay_reason = 'parked') THEN
        DELETE FROM kombu_group WHERE queue_id = which AND name = flow;
    END IF;
END $$;

-- Make the oldest messages of a group ready that are parked or snoozed; the group is forgotten with its last parked
-- one, unless somebody is publishing to it just now.  `step`: theirs from now on; NULL: as they were published.  They
-- stand where the group's last one ended: a group that is woken one by one has its share, and not the head of the queue
-- each time.  -> their task ids
CREATE OR REPLACE FUNCTION kombu_message_wake(which integer, flow text, most integer, step integer DEFAULT NULL)
RETURNS SETOF text
LANGUAGE plpgsql {settings} AS $$
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
        PERFORM pg_notify('{channel}', (SELECT name FROM kombu_queue WHERE id = which));
    END IF;
    PERFORM kombu_group_forget(which, flow);
END $$;
