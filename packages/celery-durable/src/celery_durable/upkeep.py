"""The functions that make messages ready again: what is due, held by dead nodes, parked, or given up.

Locks of each: the message rows it changes, skipping locked ones.
"""

#: Make the oldest messages of a group ready that are parked or snoozed; the group is forgotten with its last parked
#: one, unless somebody is publishing to it just now.  `step`: theirs from now on; NULL: as they were published.  They
#: stand where the group's last one ended: a group that is woken one by one has its share, and not the head of the queue
#: each time.  -> their task ids
WAKE = """
CREATE OR REPLACE FUNCTION {message}_wake(which integer, flow text, most integer, step integer DEFAULT NULL)
RETURNS SETOF text
LANGUAGE plpgsql {settings} AS $$
DECLARE
    one record;
    place bigint;
BEGIN
    FOR one IN
        WITH parked AS MATERIALIZED (
            SELECT id, task_id, rank_step FROM {message}
             WHERE queue_id = which AND coalesce(user_id, '') = flow AND delay_reason = 'parked'
             ORDER BY id LIMIT most FOR NO KEY UPDATE SKIP LOCKED),
        snoozed AS MATERIALIZED (
            SELECT id, task_id, rank_step FROM {message}
             WHERE queue_id = which AND coalesce(user_id, '') = flow AND delay_reason = 'snooze'
             ORDER BY id LIMIT most FOR NO KEY UPDATE SKIP LOCKED)
        SELECT * FROM (SELECT * FROM parked UNION ALL SELECT * FROM snoozed) AS waiting ORDER BY id LIMIT most
    LOOP
        IF place IS NULL THEN
            place := greatest({message}_rank(which, flow, coalesce(step, one.rank_step)),
                              (SELECT rank FROM {group} WHERE queue_id = which AND name = flow));
        END IF;
        UPDATE {message} SET visible = true, visible_at = clock_timestamp(), delay_reason = NULL, rank = place,
               rank_step = coalesce(step, rank_step)
         WHERE id = one.id;
        place := place + coalesce(step, one.rank_step);
        RETURN NEXT one.task_id;
    END LOOP;
    IF place IS NOT NULL THEN
        UPDATE {group} SET rank = place WHERE queue_id = which AND name = flow;
        PERFORM pg_notify('{channel}', (SELECT name FROM {queue} WHERE id = which));
    END IF;
    IF NOT EXISTS (SELECT FROM {message} WHERE queue_id = which AND coalesce(user_id, '') = flow
                      AND delay_reason = 'parked') THEN
        DELETE FROM {group} WHERE (queue_id, name) IN (
            SELECT queue_id, name FROM {group} WHERE queue_id = which AND name = flow FOR UPDATE SKIP LOCKED);
    END IF;
END $$"""

#: Take in what a stock producer inserted: its task id, group and due time are in the payload.  A task that is there
#: already is not put a second time.  What cannot be read, or is no name for an index, is made ready as it is: a worker
#: will find out, and bury it; an error here would stop every node.
TAKE_IN = """
CREATE OR REPLACE FUNCTION {message}_take_in(which integer, most integer) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
DECLARE
    one record;
    headers json;
    given text;
    flow text;
    due timestamptz;
    taken integer := 0;
BEGIN
    FOR one IN SELECT id, payload, user_id FROM {message}
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
            UPDATE {message}
               SET task_id = coalesce(task_id, given), user_id = flow,
                   visible = due IS NULL OR due <= clock_timestamp(), visible_at = greatest(due, clock_timestamp()),
                   delay_reason = CASE WHEN due > clock_timestamp() THEN 'eta' END,
                   rank = {message}_rank(which, flow, rank_step)
             WHERE id = one.id;
        EXCEPTION WHEN unique_violation THEN
            DELETE FROM {message} WHERE id = one.id;
        END;
        taken := taken + 1;
    END LOOP;
    RETURN taken;
END $$"""

#: What is due becomes ready: a delay with a rank of now, a lost lease with the one it had.  -> how many
PROMOTE = """
CREATE OR REPLACE FUNCTION {message}_promote(
    which integer, since timestamptz, upto timestamptz, settled boolean, most integer
) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
DECLARE
    moved integer;
BEGIN
    WITH late AS (
        SELECT id, user_id, lease_token FROM {message}
         WHERE queue_id = which AND NOT visible AND visible_at > since AND visible_at <= upto
           AND (lease_token IS NULL OR settled)
         ORDER BY visible_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED),
    due AS (
        SELECT id, lease_token IS NULL AS delayed, row_number() OVER (PARTITION BY user_id ORDER BY id) - 1 AS place
          FROM late)
    UPDATE {message} AS m
       SET visible = true, visible_at = clock_timestamp(), delay_reason = NULL,
           lost_count = lost_count + (started_at IS NOT NULL)::int,
           lease_token = NULL, lease_owner = NULL, started_at = NULL,
           rank = CASE WHEN due.delayed OR m.rank IS NULL
                       THEN {message}_rank(which, m.user_id, m.rank_step) + due.place * m.rank_step ELSE m.rank END
      FROM due WHERE m.id = due.id;
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF moved > 0 THEN
        PERFORM pg_notify('{channel}', (SELECT name FROM {queue} WHERE id = which));
    END IF;
    RETURN moved;
END $$"""

#: Take back what a dead node held, and forget the node with the last of it.  What is locked follows later.  -> how many
RESCUE = """
CREATE OR REPLACE FUNCTION {message}_rescue(dead bigint, upto timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
DECLARE
    touched integer[];
BEGIN
    WITH freed AS (
        UPDATE {message}
           SET visible = true, visible_at = clock_timestamp(), lost_count = lost_count + (started_at IS NOT NULL)::int,
               lease_token = NULL, lease_owner = NULL, started_at = NULL
         WHERE id = ANY (ARRAY(
               SELECT id FROM {message} WHERE lease_owner = dead AND visible_at > upto
                LIMIT most FOR NO KEY UPDATE SKIP LOCKED))
        RETURNING queue_id)
    SELECT array_agg(queue_id) INTO touched FROM freed;
    PERFORM pg_notify('{channel}', name) FROM {queue} WHERE id = ANY (touched);
    IF NOT EXISTS (SELECT FROM {message} WHERE lease_owner = dead AND visible_at > upto) THEN
        DELETE FROM {node} WHERE lock IN (SELECT lock FROM {node} WHERE lock = dead FOR UPDATE SKIP LOCKED);
    END IF;
    RETURN coalesce(cardinality(touched), 0);
END $$"""

#: Wake one message of each parked group that was left alone for too long.
PROBE = """
CREATE OR REPLACE FUNCTION {message}_probe(which integer, upto timestamptz, most integer) RETURNS void
LANGUAGE plpgsql {settings} AS $$
DECLARE
    flow text;
BEGIN
    FOR flow IN SELECT name FROM {group} WHERE queue_id = which AND probe_at <= upto
                 ORDER BY probe_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED LOOP
        UPDATE {group} SET probe_at = upto + make_interval(secs => probe_seconds)
         WHERE queue_id = which AND name = flow;
        PERFORM {message}_wake(which, flow, 1);
    END LOOP;
END $$"""

#: Park a group: what is ready of it waits to be woken, and so does what is published from now on.  Of very many the
#: youngest are parked; the others follow with the next of them that finds no room.  Every `probe_seconds` one of its
#: messages is woken in any case.  `task`: one that was claimed and did not run; its place in the order is not spent.
#: -> how many were parked
PARK = """
CREATE OR REPLACE FUNCTION {message}_park(
    queue_name text, flow text, seconds double precision, task text DEFAULT NULL
) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
DECLARE
    which integer := (SELECT id FROM {queue} WHERE name = queue_name);
    chosen bigint[];
    parked integer;
    unspent bigint := (SELECT rank FROM {message} WHERE task_id = task);
BEGIN
    SELECT array_agg(id), least(min(rank), unspent) INTO chosen, unspent FROM (
        SELECT id, rank FROM {message}
         WHERE queue_id = which AND coalesce(user_id, '') = flow AND visible AND rank IS NOT NULL
         ORDER BY rank DESC LIMIT {most_parked} FOR NO KEY UPDATE SKIP LOCKED) AS ready;
    INSERT INTO {group} AS g (queue_id, name, probe_at, probe_seconds, rank)
    SELECT which, flow, clock_timestamp() + make_interval(secs => seconds), seconds, unspent WHERE which IS NOT NULL
    ON CONFLICT (queue_id, name) DO UPDATE
       SET probe_at = excluded.probe_at, probe_seconds = excluded.probe_seconds, rank = least(g.rank, excluded.rank);
    UPDATE {message} SET visible = false, visible_at = NULL, delay_reason = 'parked', rank = NULL
     WHERE id = ANY (chosen);
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN parked;
END $$"""

#: The look of an idle node: promote what is due, give back what dead nodes held, and say what comes next.
#: `since`: promote only what became due after it, and look for ready ones above the floor only; NULL: look at all.
#: `settled` is false just after a reconnect: when the server went away every node lost its lock, so nobody may be
#: judged dead before all had time to come back.
#: -> (queues with ready messages, seconds until the next is due or NULL, does another node hold leases, the clock)
#: Locks besides: each dead node's advisory lock, shared, until the end.
POLL = """
CREATE OR REPLACE FUNCTION {message}_poll(
    queues text[], me bigint, settled boolean, since timestamptz,
    OUT ready text[], OUT due double precision, OUT others boolean, OUT clock timestamptz
) LANGUAGE plpgsql {settings} AS $$
DECLARE
    one record;
    sibling bigint;
    moved integer := 0;
    coming timestamptz;
BEGIN
    clock := clock_timestamp();
    ready := ARRAY[]::text[];
    others := false;
    FOR sibling IN SELECT lock FROM {node} WHERE lock IS DISTINCT FROM me LOOP
        IF settled AND pg_try_advisory_xact_lock_shared(sibling) THEN
            moved := moved + {message}_rescue(sibling, clock, {batch});
        ELSE
            others := others OR EXISTS (SELECT FROM {message} WHERE lease_owner = sibling AND visible_at > clock);
        END IF;
    END LOOP;
    FOR one IN SELECT id, name, paused_at, CASE WHEN since IS NULL THEN 0 ELSE rank_floor END AS lowest
                 FROM {queue} WHERE name = ANY (queues) ORDER BY id LOOP
        moved := moved + {message}_promote(one.id, coalesce(since, '-infinity'), clock, settled, {batch})
                       + {message}_take_in(one.id, {batch});
        PERFORM {message}_probe(one.id, clock, {batch});
        IF one.paused_at IS NULL AND (SELECT true FROM {message} WHERE queue_id = one.id AND visible
                                         AND rank >= one.lowest ORDER BY rank LIMIT 1) THEN
            ready := ready || one.name::text;
        END IF;
        coming := least(coming, (SELECT min(probe_at) FROM {group} WHERE queue_id = one.id),
                        (SELECT visible_at FROM {message} WHERE queue_id = one.id AND NOT visible AND visible_at > clock
                          ORDER BY visible_at LIMIT 1));
    END LOOP;
    due := CASE WHEN moved >= {batch} THEN 0
                WHEN coming IS NOT NULL THEN greatest(0, extract(epoch FROM coming - clock)) END;
END $$"""

#: Put dead letters back on their queues as new messages.  One whose task id or unique key is there again, or whose
#: queue is not, stays dead; one that somebody else holds is left out.  -> what became of each: 'redriven', 'in the way'
#: or 'no queue'.  Locks besides: the letters.
REDRIVE = """
CREATE OR REPLACE FUNCTION {message}_redrive(letters bigint[]) RETURNS TABLE (letter bigint, task text, outcome text)
LANGUAGE plpgsql {settings} AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT * FROM {dead_letter} WHERE id = ANY (letters) ORDER BY id FOR UPDATE SKIP LOCKED LOOP
        letter := one.id;
        task := one.task_id;
        IF NOT EXISTS (SELECT FROM {queue} WHERE name = one.queue) THEN
            outcome := 'no queue';
        ELSIF {message}_publish(one.queue, one.payload, one.task_id, one.user_id, one.unique_key, NULL, one.rank_step,
                                one.queue) IS NULL THEN
            outcome := 'in the way';
        ELSE
            DELETE FROM {dead_letter} WHERE id = one.id;
            outcome := 'redriven';
        END IF;
        RETURN NEXT;
    END LOOP;
END $$"""

UPKEEP = (WAKE, TAKE_IN, PROMOTE, RESCUE, PROBE, PARK, POLL, REDRIVE)
