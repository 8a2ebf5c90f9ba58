"""The statements of the hot path, as functions in the database.

Their plans are made once per session instead of once per call, also behind a pooler: planned anew, a publish takes
0.49 ms instead of 0.24.  A plan that is kept was perhaps made when the table was empty, so nothing but the indexes is
offered to the planner; and what it thinks that costs must not start the JIT compiler.

Fair order: start-time fair queuing.  A message's rank is that of the head of its queue, or its group's last one plus a
step, whichever is further: one group's thousandth message is ranked behind the first ones of all others, and a group
that comes anew begins where the queue stands.  The rank of an empty queue is the clock in microseconds.  A step is
100 / weight, so ranks given in a busy time stay behind the clock, and no message that comes back with an old rank, or
whose transaction was long, waits behind those that came after.

Nobody is told who does not sleep: NOTIFY holds a lock of the whole server until its commit is done, and wakes every
node.  A node about to sleep on a queue locks `asleep` for its session, shared, and looks once more; a publisher locks
`publishing` until its end, shared, and then tries `asleep`.  Either the publisher sees that somebody sleeps, or the
node sees that somebody publishes, and looks again soon.

Locks of each function: the message rows it changes, skipping locked ones.
"""

from .counting import COUNTING
from .upkeep import UPKEEP

#: First halves of advisory locks; the second is the queue's id.
ASLEEP = "hashtext('{channel} asleep')"
PUBLISHING = "hashtext('{channel} publishing')"

#: -> the rank of a message that becomes ready now.  The floor leaves out the dead entries of the index's begin.
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

#: Store a message.  `delay`: seconds, NULL for none; `hint`: the notification; `most_ready`: with so many of its group
#: ready already the group is parked, and this one waits; NULL for any number.  -> its id; NULL: a conflict, or an
#: unknown queue.  The lock on a parked group keeps it from being forgotten before this message is seen.
PUBLISH = """
CREATE OR REPLACE FUNCTION {message}_publish(
    queue_name text, body text, task text, flow text, key text, delay double precision, step integer, hint text,
    most_ready integer DEFAULT NULL
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
        IF reason IS NULL AND most_ready <= (
            SELECT count(*) FROM (
                SELECT FROM {message} WHERE queue_id = which AND coalesce(user_id, '') = flow AND visible
                   AND rank IS NOT NULL LIMIT most_ready) AS ready) THEN
            reason := 'parked';
            INSERT INTO {group} (queue_id, name, probe_at, probe_seconds, rank)
            VALUES (which, flow, clock_timestamp() + make_interval(secs => {probe}), {probe},
                    {message}_rank(which, flow, step))
            ON CONFLICT DO NOTHING;
        END IF;
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
    IF added IS NOT NULL AND (reason = 'eta' OR reason IS NULL AND {message}_wanted(which)) THEN
        PERFORM pg_notify('{channel}', hint);
    END IF;
    RETURN added;
END $$"""

#: -> whether a publish must tell.  Locks until the end of the transaction: that somebody publishes, shared.
WANTED = f"""
CREATE OR REPLACE FUNCTION {{message}}_wanted(which integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF pg_try_advisory_xact_lock_shared({PUBLISHING}, which) AND pg_try_advisory_lock({ASLEEP}, which) THEN
        PERFORM pg_advisory_unlock({ASLEEP}, which);
        RETURN false;
    END IF;
    RETURN true;
END $$"""

#: Lease up to `most` ready messages of one queue in their order, beginning to read at a rank.  What somebody holds FOR
#: KEY SHARE, to keep it from being deleted, is not skipped.
LEASE = """
CREATE OR REPLACE FUNCTION {message}_lease(
    which integer, most integer, owner bigint, lease double precision, from_rank bigint
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql {settings} AS $$
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

#: As above, none of a paused or unknown queue, for a node that falls asleep when it gets fewer than it asked for.
#: `sleep`: 0 awake, 1 asleep but somebody was publishing, so look again soon, 2 asleep.  When that changes, the last
#: row has no id, and the new state for its deliveries.
CLAIM = f"""
CREATE OR REPLACE FUNCTION {{message}}_claim(
    queue_name text, most integer, owner bigint, lease double precision, from_rank bigint, sleep integer
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql {{settings}} AS $$
DECLARE
    which integer := (SELECT id FROM {{queue}} WHERE name = queue_name AND paused_at IS NULL);
    got integer;
BEGIN
    IF which IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM {{message}}_lease(which, most, owner, lease, from_rank);
    GET DIAGNOSTICS got = ROW_COUNT;
    IF owner IS NULL OR sleep = (CASE WHEN got < most THEN 2 ELSE 0 END) THEN
        RETURN;
    END IF;
    IF got = most THEN
        PERFORM pg_advisory_unlock_shared({ASLEEP}, which);
        deliveries := 0;
    ELSE
        IF sleep = 0 THEN
            PERFORM pg_advisory_lock_shared({ASLEEP}, which);
        END IF;
        deliveries := CASE WHEN pg_try_advisory_xact_lock({PUBLISHING}, which) THEN 2 ELSE 1 END;
        RETURN QUERY SELECT * FROM {{message}}_lease(which, most - got, owner, lease, from_rank);
    END IF;
    message_id := NULL;
    RETURN NEXT;
END $$"""

FUNCTIONS = (RANK, WANTED, PUBLISH, LEASE, CLAIM, *UPKEEP, *COUNTING)
