-- The statements of the hot path, as functions in the database.
--
-- Their plans are made once per session instead of once per call, also behind a pooler: planned anew, a publish takes
-- 0.49 ms instead of 0.24.  A plan that is kept was perhaps made when the table was empty, so nothing but the indexes
-- is offered to the planner; and what it thinks that costs must not start the JIT compiler.
--
-- Fair order: start-time fair queuing.  A message's rank is that of the head of its queue, or its group's last one plus
-- a step, whichever is further: one group's thousandth message is ranked behind the first ones of all others, and a
-- group that comes anew begins where the queue stands.  The rank of an empty queue is the clock in microseconds.  A
-- step is 100 / weight, so ranks given in a busy time stay behind the clock, and no message that comes back with an old
-- rank, or whose transaction was long, waits behind those that came after.
--
-- Nobody is told who does not sleep: NOTIFY holds a lock of the whole server until its commit is done, and wakes every
-- node.  A node about to sleep on a queue locks `asleep` for its session, shared, and looks once more; a publisher
-- locks `publishing` until its end, shared, and then tries `asleep`.  Either the publisher sees that somebody sleeps,
-- or the node sees that somebody publishes, and looks again soon.
--
-- In a serializable transaction a publisher gives no rank: to read the ends of the index that all publishers write to
-- would make each of them a reason to abort the others.  Such a message waits and is due at once, and the node that is
-- told of it ranks it with its next poll, as any that becomes due (durable_promote).
--
-- Who may move a message: a claim takes rows of durable_ready that it has locked, skipping locked ones.  Whoever else
-- moves a message, or deletes it, or takes its lease away locks its row of durable_message before.  So who holds that
-- row, and does not find the message in durable_ready, knows where it is until the end of the transaction.
--
-- Locks of each function: the rows it changes, skipping locked ones.
--
-- The functions that a publisher calls run with the rights of the tables' owner: see publishers.sql.

-- -> the rank of a message that becomes ready now.  `lowest`: the queue's floor, which leaves out the dead entries at the
-- beginning of the index.  A group that has a ready message is behind the head of its queue already.  It has no settings
-- of its own: they cost 11 µs a call, and every function that calls it has them.
-- The row comparison, as in other statements that want few of one tenant: only the index of tenants has this order.
-- With `tenant = of_tenant` the index of all ready messages has it, too; where a table was small when the plan was made,
-- or its statistics name two tenants, the planner takes that one and reads all messages of the others.
CREATE OR REPLACE FUNCTION durable_place(which integer, lowest bigint, of_tenant text, step integer)
RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    place bigint;
BEGIN
    SELECT rank + step INTO place FROM durable_ready
     WHERE queue_id = which AND (tenant, rank) >= (coalesce(of_tenant, ''), lowest)
       AND tenant <= coalesce(of_tenant, '')
     ORDER BY tenant DESC, rank DESC LIMIT 1;
    IF place IS NULL THEN
        SELECT rank INTO place FROM durable_ready WHERE queue_id = which AND rank >= lowest ORDER BY rank LIMIT 1;
    END IF;
    RETURN coalesce(place, greatest(lowest, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint));
END $$;

-- The same for statements that have no settings and do not know the floor.
CREATE OR REPLACE FUNCTION durable_rank(which integer, of_tenant text, step integer) RETURNS bigint
LANGUAGE plpgsql STABLE {settings} AS $$
BEGIN
    RETURN (SELECT durable_place(id, rank_floor, of_tenant, step) FROM durable_queue WHERE id = which);
END $$;

-- -> 'parked' when a message of the group has to wait: the group is parked, or is so now, since `most_ready` of it are
-- ready; NULL when it does not, and when a group is being forgotten just now.  Locks: the group, against its being
-- forgotten: one that this transaction has neither made nor locked may be gone before its message is seen.
CREATE OR REPLACE FUNCTION durable_parks(
    which integer, of_tenant text, most_ready integer, step integer, probe double precision
) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM kombu_group WHERE queue_id = which AND name = of_tenant FOR KEY SHARE SKIP LOCKED;
    IF FOUND THEN
        RETURN 'parked';
    END IF;
    IF most_ready IS NULL THEN               -- a limit of NULL would count all of them
        RETURN NULL;
    END IF;
    IF most_ready <= (
        SELECT count(*) FROM (
            SELECT FROM durable_ready
             WHERE queue_id = which AND (tenant, rank) >= (of_tenant, -9223372036854775808) AND tenant <= of_tenant
             ORDER BY tenant, rank LIMIT most_ready) AS ready) THEN
        INSERT INTO kombu_group (queue_id, name, probe_at, probe_seconds, rank)
        VALUES (which, of_tenant, clock_timestamp() + make_interval(secs => probe), probe,
                durable_rank(which, of_tenant, step))
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            PERFORM FROM kombu_group WHERE queue_id = which AND name = of_tenant FOR KEY SHARE SKIP LOCKED;
        END IF;
        RETURN CASE WHEN FOUND THEN 'parked' END;
    END IF;
    RETURN NULL;
END $$;

-- -> whether a publish must tell.  Locks until the end of the transaction: that somebody publishes, shared.  The other
-- lock is taken only to see whether it is free.  It goes with a subtransaction that is undone, whatever ends that: a
-- lock of the session that a cancelled publish left behind kept every node from falling asleep.  It costs 2 µs.
CREATE OR REPLACE FUNCTION durable_wanted(which integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    asleep boolean := true;
BEGIN
    IF pg_try_advisory_xact_lock_shared(hashtext('{channel} publishing'), which) THEN
        BEGIN
            asleep := NOT pg_try_advisory_xact_lock(hashtext('{channel} asleep'), which);
            RAISE EXCEPTION USING errcode = 'BR000';
        EXCEPTION WHEN SQLSTATE 'BR000' THEN
            NULL;
        END;
    END IF;
    RETURN asleep;
END $$;

-- -> whether a message is due so soon that some node would see it too late by its own polls.  A node of a release that
-- did not write down how often it polls is always told.  As JSON, the column need not be there: publishers meet this
-- function also just before a migration and after it was taken back.
CREATE OR REPLACE FUNCTION durable_sooner(delay double precision) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM kombu_node AS n WHERE coalesce((to_jsonb(n) ->> 'poll_seconds')::float8, 'infinity') >= delay);
END $$;

-- Store a message.  `delay`: seconds, NULL for none; `hint`: the notification; `most_ready`: with so many of its group
-- ready already the group is parked, and this one waits; NULL for any number; `priority`: 1 to 9, and what is beyond
-- them is as the nearest.  -> its id; NULL: a conflict, or an unknown queue.  The lock on a parked group keeps it from
-- being forgotten before this message is seen.
CREATE OR REPLACE FUNCTION durable_publish(
    queue_name text, body text, task text, of_tenant text, key text, delay double precision, step integer, hint text,
    most_ready integer DEFAULT NULL, priority integer DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql {definer} AS $$
DECLARE
    urgency CONSTANT smallint := CASE WHEN priority > 0 THEN least(priority, 9) END;
    which integer;
    lowest bigint;
    reason text;
    added bigint;
    ranked boolean := current_setting('transaction_isolation') <> 'serializable';
BEGIN
    SELECT id, rank_floor INTO which, lowest FROM durable_queue WHERE name = queue_name;
    IF which IS NULL THEN
        RETURN NULL;
    END IF;
    IF delay IS NOT NULL OR NOT ranked THEN
        reason := 'eta';
    END IF;
    IF delay IS NULL AND of_tenant IS NOT NULL THEN
        reason := coalesce(durable_parks(which, of_tenant, most_ready, step, {probe}), reason);
    END IF;
    INSERT INTO durable_message AS m (payload, queue_id, task_id, tenant, unique_key, step, priority)
    VALUES (body, which, task, of_tenant, key, step, urgency)
    ON CONFLICT DO NOTHING RETURNING m.id INTO added;
    IF added IS NULL THEN
        RETURN NULL;
    ELSIF reason IS NULL THEN
        INSERT INTO durable_ready (id, queue_id, tenant, rank, priority)
        VALUES (added, which, coalesce(of_tenant, ''), durable_place(which, lowest, of_tenant, step), urgency);
    ELSE
        INSERT INTO durable_waiting (id, queue_id, tenant, reason, due_at, priority)
        VALUES (added, which, coalesce(of_tenant, ''), reason, CASE WHEN reason = 'eta'
                THEN clock_timestamp() + make_interval(secs => coalesce(delay, 0)) END, urgency);
    END IF;
    IF delay IS NULL AND reason = 'eta' THEN
        PERFORM pg_notify('{channel}', hint || E'\t{rank_soon}');
    ELSIF (CASE WHEN reason = 'eta' THEN durable_sooner(delay)
                WHEN reason IS NULL THEN durable_wanted(which) END) THEN
        PERFORM pg_notify('{channel}', hint);
    END IF;
    RETURN added;
END $$;

-- Put a message on another queue.  One whose task has a message there already stays where it is: nothing may be lost,
-- and a queue holds one message of each task.  -> the queue that it is on now.
CREATE OR REPLACE FUNCTION durable_transfer(message bigint, target integer) RETURNS integer
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE durable_message SET queue_id = target WHERE id = message;
    RETURN target;
EXCEPTION WHEN unique_violation THEN
    RETURN (SELECT queue_id FROM durable_message WHERE id = message);
END $$;

-- A retry in place: the leased message of a task, with its new payload, waits as it is told.  `queue_name`: where; with
-- an unknown name, and where another message of the task is already, it stays on its own queue.  `park`: its group is
-- parked for `seconds` as well; `priority`: its new one, NULL for the one that it has.  -> its id; NULL: the lease is
-- lost, and nothing is changed.  Locks besides: the message; when it parks, the group, and its ready messages.
CREATE OR REPLACE FUNCTION durable_retry(
    task text, token uuid, queue_name text, body text, delay double precision, snooze boolean, park boolean,
    seconds double precision, hint text, priority integer DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql {settings} AS $$
DECLARE
    urgency smallint := CASE WHEN priority > 0 THEN least(priority, 9) END;
    mine record;
    place integer;
    target record;
    now_ready boolean := delay IS NULL AND NOT park AND current_setting('transaction_isolation') <> 'serializable';
BEGIN
    SELECT m.id, m.queue_id, m.tenant, m.step, m.priority, q.id AS wanted INTO mine
      FROM durable_message AS m JOIN durable_lease AS l ON l.id = m.id
      LEFT JOIN durable_queue AS q ON q.name = queue_name
     WHERE m.task_id = task AND l.token = durable_retry.token FOR NO KEY UPDATE OF m;
    -- In a statement of its own: it sees what became of the lease while the message was waited for.
    IF NOT FOUND OR NOT EXISTS (
        SELECT FROM durable_lease AS l WHERE l.id = mine.id AND l.token = durable_retry.token) THEN
        RETURN NULL;
    END IF;
    place := CASE WHEN mine.wanted <> mine.queue_id THEN durable_transfer(mine.id, mine.wanted) ELSE mine.queue_id END;
    SELECT id, name, rank_floor INTO target FROM durable_queue WHERE id = place;
    hint := target.name || substr(hint, length(queue_name) + 1);
    IF park THEN
        PERFORM durable_park(target.name, coalesce(mine.tenant, ''), seconds,
                                   CASE WHEN target.id = mine.queue_id THEN task END);
    END IF;
    IF priority IS NULL THEN
        urgency := mine.priority;
    END IF;
    DELETE FROM durable_lease WHERE id = mine.id;
    UPDATE durable_message AS m
       SET payload = body, priority = urgency, delivery_count = delivery_count + 1,
           retry_count = retry_count + (NOT snooze)::int, snooze_count = snooze_count + snooze::int
     WHERE m.id = mine.id;
    IF now_ready THEN
        INSERT INTO durable_ready (id, queue_id, tenant, rank, priority)
        VALUES (mine.id, target.id, coalesce(mine.tenant, ''),
                durable_place(target.id, target.rank_floor, mine.tenant, mine.step), urgency)
        ON CONFLICT DO NOTHING;
    ELSE
        INSERT INTO durable_waiting (id, queue_id, tenant, reason, due_at, priority)
        VALUES (mine.id, target.id, coalesce(mine.tenant, ''),
                CASE WHEN park THEN 'parked' WHEN snooze THEN 'snooze' ELSE 'retry' END,
                CASE WHEN NOT park THEN clock_timestamp() + make_interval(secs => coalesce(delay, 0)) END, urgency)
        ON CONFLICT DO NOTHING;
    END IF;
    IF delay IS NULL AND NOT park AND NOT now_ready THEN
        PERFORM pg_notify('{channel}', hint || E'\t{rank_soon}');
    ELSIF (CASE WHEN now_ready THEN durable_wanted(target.id)
                WHEN NOT park THEN durable_sooner(delay) END) THEN
        PERFORM pg_notify('{channel}', hint);
    END IF;
    RETURN mine.id;
END $$;
