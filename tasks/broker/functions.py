"""The statements of the hot path, as functions in the database.

Their plans are made once per session instead of once per call, also behind a pooler: planned anew, a publish takes
0.49 ms instead of 0.24.  A plan that is kept was perhaps made when the table was empty, so nothing but the indexes is
offered to the planner; and what it thinks that costs must not start the JIT compiler.

Fair order: start-time fair queuing.  A message's rank is that of the head of its queue, or its group's last one plus a
step, whichever is further: one group's thousandth message is ranked behind the first ones of all others, and a group
that comes anew begins where the queue stands.  The rank of an empty queue is the clock in microseconds.  A step is
100 / weight, so ranks given in a busy time stay behind the clock, and no message that comes back with an old rank, or
whose transaction was long, waits behind those that came after.

Locks of each function: the message rows it changes, skipping locked ones.
"""

#: -> the rank of a message that becomes ready now.  `floor` leaves out the dead entries of the index's begin.
RANK = """
CREATE OR REPLACE FUNCTION {message}_rank(which integer, flow text, step integer) RETURNS bigint
LANGUAGE plpgsql STABLE {settings} AS $$
DECLARE
    lowest bigint := (SELECT rank_floor FROM {queue} WHERE id = which);
    head bigint;
    last bigint;
BEGIN
    SELECT rank INTO head FROM {message}
     WHERE queue_id = which AND visible AND rank >= lowest ORDER BY rank LIMIT 1;
    IF head IS NOT NULL THEN
        SELECT rank INTO last FROM {message}
         WHERE queue_id = which AND coalesce(user_id, '') = coalesce(flow, '') AND visible AND rank >= lowest
         ORDER BY rank DESC LIMIT 1;
    END IF;
    RETURN greatest(coalesce(head, lowest, 0), coalesce(last + step, 0),
                    CASE WHEN head IS NULL THEN (extract(epoch FROM clock_timestamp()) * 1000000)::bigint END);
END $$"""

#: Store a message.  `delay`: seconds, NULL for none; `hint`: notification, NULL for none.  -> its id; NULL: a conflict,
#: or an unknown queue.  The lock on a parked group keeps it from being forgotten before this message is seen.
PUBLISH = """
CREATE OR REPLACE FUNCTION {message}_publish(
    queue_name text, body text, task text, flow text, key text, delay double precision, step integer, hint text
) RETURNS bigint
LANGUAGE plpgsql {settings} AS $$
DECLARE
    which integer := (SELECT id FROM {queue} WHERE name = queue_name);
    reason text := CASE WHEN delay IS NOT NULL THEN 'eta' END;
    added bigint;
BEGIN
    IF reason IS NULL AND flow IS NOT NULL THEN
        PERFORM FROM {group} WHERE queue_id = which AND name = flow FOR KEY SHARE SKIP LOCKED;
        reason := CASE WHEN FOUND THEN 'parked' END;
    END IF;
    INSERT INTO {message} AS m
           (visible, visible_at, delay_reason, payload, queue_id, task_id, user_id, unique_key, rank_step, rank)
    SELECT reason IS NULL,
           CASE WHEN reason IS DISTINCT FROM 'parked'
                THEN clock_timestamp() + make_interval(secs => coalesce(delay, 0)) END,
           reason, body, which, task, flow, key, step,
           CASE WHEN reason IS NULL THEN {message}_rank(which, flow, step) END
     WHERE which IS NOT NULL
    ON CONFLICT DO NOTHING RETURNING m.id INTO added;
    IF added IS NOT NULL AND hint IS NOT NULL AND reason IS DISTINCT FROM 'parked' THEN
        PERFORM pg_notify('{channel}', hint);
    END IF;
    RETURN added;
END $$"""

#: Lease up to `most` ready messages of one queue in their order, none of a paused or unknown queue, beginning to read
#: at a rank.  What somebody holds FOR KEY SHARE, to keep it from being deleted, is not skipped.
CLAIM = """
CREATE OR REPLACE FUNCTION {message}_claim(
    queue_name text, most integer, owner bigint, lease double precision, from_rank bigint
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql {settings} AS $$
DECLARE
    which integer := (SELECT id FROM {queue} WHERE name = queue_name AND paused_at IS NULL);
BEGIN
    RETURN QUERY
    UPDATE {message} AS m
       SET visible = false, delay_reason = NULL, started_at = NULL,
           visible_at = clock_timestamp() + make_interval(secs => lease),
           lease_token = gen_random_uuid(), lease_owner = owner, delivery_count = m.delivery_count + 1
     WHERE m.id = ANY (ARRAY(
           SELECT r.id FROM {message} AS r
            WHERE r.queue_id = which AND r.visible AND r.rank >= from_rank
            ORDER BY r.rank, r.id LIMIT most FOR NO KEY UPDATE SKIP LOCKED))
    RETURNING m.id, m.lease_token::text, m.payload, m.delivery_count, m.retry_count, m.snooze_count, m.lost_count,
              m.rank;
END $$"""

#: Make the oldest parked messages of a group ready; the group is forgotten with its last one, unless somebody is
#: publishing to it just now.  -> their task ids
WAKE = """
CREATE OR REPLACE FUNCTION {message}_wake(which integer, flow text, most integer) RETURNS SETOF text
LANGUAGE plpgsql {settings} AS $$
BEGIN
    RETURN QUERY
    WITH next AS (
        SELECT m.id, row_number() OVER (ORDER BY m.id) - 1 AS place FROM (
            SELECT p.id FROM {message} AS p
             WHERE p.queue_id = which AND p.user_id = flow AND p.delay_reason = 'parked'
             ORDER BY p.id LIMIT most FOR NO KEY UPDATE SKIP LOCKED) AS m),
    base AS MATERIALIZED (SELECT {message}_rank(which, flow, 0) AS rank)
    UPDATE {message} AS m
       SET visible = true, visible_at = clock_timestamp(), delay_reason = NULL,
           rank = (SELECT base.rank FROM base) + next.place * m.rank_step
      FROM next WHERE m.id = next.id RETURNING m.task_id;
    IF FOUND THEN
        PERFORM pg_notify('{channel}', (SELECT name FROM {queue} WHERE id = which));
    END IF;
    IF NOT EXISTS (SELECT FROM {message} WHERE queue_id = which AND user_id = flow AND delay_reason = 'parked') THEN
        DELETE FROM {group} WHERE (queue_id, name) IN (
            SELECT queue_id, name FROM {group} WHERE queue_id = which AND name = flow FOR UPDATE SKIP LOCKED);
    END IF;
END $$"""

#: Take in what a stock producer inserted: its task id, group and due time are in the payload.  A task that is there
#: already is not put a second time.
TAKE_IN = """
CREATE OR REPLACE FUNCTION {message}_take_in(which integer, most integer) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
DECLARE
    one record;
    headers json;
    due timestamptz;
    taken integer := 0;
BEGIN
    FOR one IN SELECT id, payload, user_id FROM {message}
                WHERE queue_id = which AND visible AND rank IS NULL
                ORDER BY id LIMIT most FOR NO KEY UPDATE SKIP LOCKED LOOP
        BEGIN
            headers := one.payload::json -> 'headers';
            due := (headers ->> 'eta')::timestamptz;
        EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
            headers := NULL;  -- a worker will find out, and bury it
            due := NULL;
        END;
        BEGIN
            UPDATE {message}
               SET task_id = coalesce(task_id, headers ->> 'id'), user_id = coalesce(user_id, headers ->> 'tenant'),
                   visible = due IS NULL OR due <= clock_timestamp(), visible_at = greatest(due, clock_timestamp()),
                   delay_reason = CASE WHEN due > clock_timestamp() THEN 'eta' END,
                   rank = {message}_rank(which, coalesce(user_id, headers ->> 'tenant'), rank_step)
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

#: Take back what a dead node held, and forget the node with the last of it.  -> how many
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
    IF coalesce(cardinality(touched), 0) < most THEN
        DELETE FROM {node} WHERE lock = dead;
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

#: Park a group: what is ready of it waits to be woken, and so does what is published from now on.  Every
#: `probe_seconds` one of its messages is woken in any case.  -> how many were parked
PARK = """
CREATE OR REPLACE FUNCTION {message}_park(queue_name text, flow text, seconds double precision) RETURNS integer
LANGUAGE plpgsql {settings} AS $$
DECLARE
    which integer := (SELECT id FROM {queue} WHERE name = queue_name);
    parked integer;
BEGIN
    INSERT INTO {group} AS g (queue_id, name, probe_at, probe_seconds)
    SELECT which, flow, clock_timestamp() + make_interval(secs => seconds), seconds WHERE which IS NOT NULL
    ON CONFLICT (queue_id, name) DO UPDATE
       SET probe_at = excluded.probe_at, probe_seconds = excluded.probe_seconds;
    UPDATE {message} SET visible = false, visible_at = NULL, delay_reason = 'parked', rank = NULL
     WHERE id = ANY (ARRAY(
           SELECT id FROM {message}
            WHERE queue_id = which AND coalesce(user_id, '') = flow AND visible AND rank IS NOT NULL
              FOR NO KEY UPDATE SKIP LOCKED));
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
    due := CASE WHEN moved >= {batch} THEN 0 ELSE greatest(0, extract(epoch FROM coming - clock)) END;
END $$"""

FUNCTIONS = (RANK, PUBLISH, CLAIM, WAKE, TAKE_IN, PROMOTE, RESCUE, PROBE, PARK, POLL)
