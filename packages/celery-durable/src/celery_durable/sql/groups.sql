-- Groups at their limit: parked, and woken.  Locks of each: the rows it changes and, before them, their messages,
-- skipping locked ones.

-- Park a group: what is ready of it waits to be woken, and so does what is published from now on.  Of very many the
-- youngest are parked; the others follow with the next of them that finds no room.  Every `probe_seconds` one of its
-- messages is woken in any case.  `task`: one that was claimed and did not run; its place in the order is not spent.
-- One that is to be cancelled stays ready: ending it takes none of what the group lacks.
-- -> how many were parked
CREATE OR REPLACE FUNCTION durable_park(
    queue_name text, of_tenant text, seconds double precision, task text DEFAULT NULL
) RETURNS integer
LANGUAGE plpgsql {by_key} AS $$
DECLARE
    which integer := (SELECT id FROM durable_queue WHERE name = queue_name);
    claimed bigint := (SELECT id FROM durable_message WHERE task_id = task AND queue_id = which);
    unspent bigint := coalesce((SELECT rank FROM durable_lease WHERE id = claimed),
                               (SELECT rank FROM durable_ready WHERE id = claimed));
    chosen tid[];
    parked integer;
BEGIN
    SELECT array_agg(place), least(min(rank), unspent) INTO chosen, unspent FROM (
        SELECT r.ctid AS place, r.rank FROM durable_ready AS r JOIN durable_message AS m ON m.id = r.id
         WHERE r.queue_id = which AND r.tenant = of_tenant AND m.cancel_requested_at IS NULL
         ORDER BY r.rank DESC LIMIT {most_parked}
           FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF r SKIP LOCKED) AS ready;
    INSERT INTO kombu_group AS g (queue_id, name, probe_at, probe_seconds, rank)
    SELECT which, of_tenant, clock_timestamp() + make_interval(secs => seconds), seconds, unspent WHERE which IS NOT NULL
    ON CONFLICT (queue_id, name) DO UPDATE
       SET probe_at = excluded.probe_at, probe_seconds = excluded.probe_seconds, rank = least(g.rank, excluded.rank);
    WITH gone AS (DELETE FROM durable_ready WHERE ctid = ANY (chosen) RETURNING id, nullif(priority, 0) AS priority)
    INSERT INTO durable_waiting (id, queue_id, tenant, reason, priority)
    SELECT id, which, of_tenant, 'parked', priority FROM gone
        ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN parked;
END $$;

-- Forget a parked group of which nothing is parked any more.  A publisher that parks a message locks the group's row
-- until its commit, and only a statement that begins after that commit sees the message.  So the row is locked first,
-- and a later statement looks once more; while some publisher holds the row, the group stays.  A transaction of a
-- stricter level has one snapshot for all its statements: it leaves the group to the next probe, as no group may be
-- forgotten while a message of it is parked.  Locks: the group, unless it is locked.
CREATE OR REPLACE FUNCTION durable_group_forget(which integer, of_tenant text) RETURNS void
LANGUAGE plpgsql {settings} AS $$
BEGIN
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable')
       OR EXISTS (SELECT FROM durable_waiting WHERE queue_id = which AND reason = 'parked' AND tenant = of_tenant) THEN
        RETURN;
    END IF;
    PERFORM FROM kombu_group WHERE queue_id = which AND name = of_tenant FOR UPDATE SKIP LOCKED;
    IF FOUND AND NOT EXISTS (
        SELECT FROM durable_waiting WHERE queue_id = which AND reason = 'parked' AND tenant = of_tenant) THEN
        DELETE FROM kombu_group WHERE queue_id = which AND name = of_tenant;
    END IF;
END $$;

-- Make messages of a group ready that are parked or snoozed, by their priority and then their age; the group is
-- forgotten with its last parked one, unless somebody is publishing to it just now.  `step`: theirs from now on; NULL:
-- as they were published.  They stand where the group's last one ended: a group that is woken one by one has its
-- share, and not the head of the queue each time.  -> their task ids
CREATE OR REPLACE FUNCTION durable_wake(which integer, of_tenant text, most integer, step integer DEFAULT NULL)
RETURNS SETOF text
LANGUAGE plpgsql {by_key} AS $$
DECLARE
    one record;
    place bigint;
BEGIN
    FOR one IN
        WITH first AS MATERIALIZED (
            SELECT m.id, m.task_id, m.step, w.priority FROM durable_waiting AS w JOIN durable_message AS m ON m.id = w.id
             WHERE w.queue_id = which AND w.tenant = of_tenant AND w.priority IS NOT NULL AND w.reason IN ('parked', 'snooze')
             ORDER BY w.priority DESC, w.id LIMIT most
               FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF w SKIP LOCKED),
        parked AS MATERIALIZED (
            SELECT m.id, m.task_id, m.step, w.priority FROM durable_waiting AS w JOIN durable_message AS m ON m.id = w.id
             WHERE w.queue_id = which AND w.reason = 'parked' AND w.tenant = of_tenant AND w.priority IS NULL
             ORDER BY w.id LIMIT most - (SELECT count(*) FROM first)
               FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF w SKIP LOCKED),
        snoozed AS MATERIALIZED (
            SELECT m.id, m.task_id, m.step, w.priority FROM durable_waiting AS w JOIN durable_message AS m ON m.id = w.id
             WHERE w.queue_id = which AND w.reason = 'snooze' AND w.tenant = of_tenant AND w.priority IS NULL
             ORDER BY w.id LIMIT most - (SELECT count(*) FROM first)
               FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF w SKIP LOCKED)
        SELECT * FROM (TABLE first UNION ALL TABLE parked UNION ALL TABLE snoozed) AS waiting
         ORDER BY coalesce(priority, 0) DESC, id LIMIT most
    LOOP
        IF place IS NULL THEN
            place := greatest(durable_rank(which, of_tenant, coalesce(durable_wake.step, one.step)),
                              (SELECT rank FROM kombu_group WHERE queue_id = which AND name = of_tenant));
        END IF;
        DELETE FROM durable_waiting WHERE id = one.id;
        INSERT INTO durable_ready (id, queue_id, tenant, rank, priority)
        VALUES (one.id, which, of_tenant, place, one.priority)
            ON CONFLICT DO NOTHING;
        UPDATE durable_message AS m SET step = durable_wake.step
         WHERE m.id = one.id AND m.step <> durable_wake.step;
        place := place + coalesce(durable_wake.step, one.step);
        RETURN NEXT one.task_id;
    END LOOP;
    IF place IS NOT NULL THEN
        UPDATE kombu_group SET rank = place WHERE queue_id = which AND name = of_tenant;
        PERFORM pg_notify('{channel}', (SELECT name FROM durable_queue WHERE id = which));
    END IF;
    PERFORM durable_group_forget(which, of_tenant);
END $$;
