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
    IF added IS NOT NULL AND (CASE WHEN reason = 'eta' THEN {message}_sooner(delay)
                                   WHEN reason IS NULL THEN {message}_wanted(which) END) THEN
        PERFORM pg_notify('{channel}', hint);
    END IF;
    RETURN added;
END $$"""

#: -> whether a publish must tell.  Locks until the end of the transaction: that somebody publishes, shared.  The other
#: lock is taken only to see whether it is free.  It goes with a subtransaction that is undone, whatever ends that: a
#: lock of the session that a cancelled publish left behind kept every node from falling asleep.  It costs 2 µs.
WANTED = f"""
CREATE OR REPLACE FUNCTION {{message}}_wanted(which integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    asleep boolean := true;
BEGIN
    IF pg_try_advisory_xact_lock_shared({PUBLISHING}, which) THEN
        BEGIN
            asleep := NOT pg_try_advisory_xact_lock({ASLEEP}, which);
            RAISE EXCEPTION USING errcode = 'BR000';
        EXCEPTION WHEN SQLSTATE 'BR000' THEN
            NULL;
        END;
    END IF;
    RETURN asleep;
END $$"""

#: -> whether a message is due so soon that some node would see it too late by its own polls.  A node of a release that
#: did not write down how often it polls is always told.  As JSON, the column need not be there: publishers meet this
#: function also just before a migration and after it was taken back.
SOONER = """
CREATE OR REPLACE FUNCTION {message}_sooner(delay double precision) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM {node} AS n WHERE coalesce((to_jsonb(n) ->> 'poll_seconds')::float8, 'infinity') >= delay);
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
#: `sleep`: 0 awake, 1 asleep but somebody was publishing, so look again soon, 2 asleep, 3 awake as the lock was not
#: free, so look again soon.  When that changes, the last row has no id, and the new state for its deliveries.  A claim
#: waits for no lock.
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
        IF sleep IN (1, 2) THEN
            PERFORM pg_advisory_unlock_shared({ASLEEP}, which);
        END IF;
        deliveries := 0;
    ELSIF sleep IN (0, 3) AND NOT pg_try_advisory_lock_shared({ASLEEP}, which) THEN
        deliveries := 3;
    ELSE
        deliveries := CASE WHEN pg_try_advisory_xact_lock({PUBLISHING}, which) THEN 2 ELSE 1 END;
        RETURN QUERY SELECT * FROM {{message}}_lease(which, most - got, owner, lease, from_rank);
    END IF;
    message_id := NULL;
    RETURN NEXT;
END $$"""

#: Write down how deliveries ended: `done` are deleted, `others` go back to their queue or to the dead letters, as
#: `hows` says.  Each is fenced by its token.  Nobody is waited for: -> the ids that somebody else has locked, to be
#: tried again; NULL for none.  Nearly always nothing is locked, and to lock rows before they are deleted is a second
#: write of each: so without `careful` the delete is tried at once, and raises lock_not_available soon.
SETTLE = """
CREATE OR REPLACE FUNCTION {message}_settle(
    done bigint[], done_tokens uuid[], others bigint[], tokens uuid[], hows text[], careful boolean
) RETURNS bigint[]
LANGUAGE plpgsql {settings} SET lock_timeout = '20ms' AS $$
DECLARE
    one record;
    left_over bigint[];
BEGIN
    IF NOT careful THEN
        DELETE FROM {message} WHERE id = ANY (done) AND lease_token = ANY (done_tokens);
    ELSE
        DELETE FROM {message} WHERE id IN (
            SELECT id FROM {message} WHERE id = ANY (done) AND lease_token = ANY (done_tokens) FOR UPDATE SKIP LOCKED);
        left_over := (SELECT array_agg(id) FROM {message} WHERE id = ANY (done) AND lease_token = ANY (done_tokens));
    END IF;
    IF cardinality(others) = 0 THEN
        RETURN left_over;
    END IF;
    FOR one IN SELECT * FROM unnest(others, tokens, hows) AS ended (id, token, how) LOOP
        PERFORM FROM {message} WHERE id = one.id AND lease_token = one.token FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            IF EXISTS (SELECT FROM {message} WHERE id = one.id AND lease_token = one.token) THEN
                left_over := left_over || one.id;
            END IF;
        ELSIF one.how IN ('requeue', 'returned', 'died') THEN
            PERFORM {message}_give_back(ARRAY[one.id], ARRAY[one.token], one.how);
        ELSE
            WITH gone AS (DELETE FROM {message} WHERE id = one.id RETURNING *)
            INSERT INTO {dead_letter} (queue, task_id, user_id, payload, reason, delivery_count, lost_count,
                                       enqueued_at, unique_key, rank_step)
            SELECT (SELECT name FROM {queue} WHERE id = queue_id), task_id, user_id, payload, one.how,
                   delivery_count, lost_count, enqueued_at, unique_key, rank_step FROM gone;
        END IF;
    END LOOP;
    RETURN left_over;
END $$"""

#: Make leased messages ready again, those that nobody has locked.  `how`: 'died', the delivery counts as lost;
#: 'requeue', it does if it had started; 'returned', it does not.
GIVE_BACK = """
CREATE OR REPLACE FUNCTION {message}_give_back(ids bigint[], tokens uuid[], how text) RETURNS void
LANGUAGE plpgsql {settings} AS $$
DECLARE
    touched integer[];
BEGIN
    WITH free AS MATERIALIZED (
        SELECT id FROM {message} WHERE id = ANY (ids) AND lease_token = ANY (tokens) FOR NO KEY UPDATE SKIP LOCKED),
    freed AS (
        UPDATE {message} SET
               visible = true, visible_at = clock_timestamp(),
               lease_token = NULL, lease_owner = NULL, started_at = NULL,
               lost_count = lost_count + (how = 'died' OR how = 'requeue' AND started_at IS NOT NULL)::int
         WHERE id IN (SELECT id FROM free) RETURNING queue_id)
    SELECT array_agg(DISTINCT queue_id) INTO touched FROM freed;
    PERFORM pg_notify('{channel}', name) FROM {queue} WHERE id = ANY (touched);
END $$"""

FUNCTIONS = (RANK, WANTED, SOONER, PUBLISH, LEASE, CLAIM, GIVE_BACK, SETTLE, *UPKEEP, *COUNTING)
