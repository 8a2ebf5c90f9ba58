-- What an application may use in statements of its own: these views and functions, and no table.  README, "SQL
-- interface", says what each is for.  Their names, columns and arguments stay; columns may be added at the end.  Those
-- that hold, move and end messages are in moving.sql.
--
-- broker_message is one table without a condition, and reads where the message stands row by row: a statement that joins
-- it or locks it is planned as one over that table, and locks the message.  Who looks for messages by their state asks
-- one of the three views after it, each of them one table with its indexes.  A queue's name is no column of a message: to
-- join it would lock the queue's row with the message.

-- -> the token under which a message is leased now.  Also when a statement that locks the message has waited for it: it
-- looks once more at the row, but with its own snapshot, in which the lease may still be there.  A volatile function has
-- a new snapshot; the planner takes a view apart only if it sees none, and the stable one below hides it.  A call takes
-- 8 µs, so the views call it for messages with a lease only.  Without its setting, the only one that it needs, a plan from
-- a quiet minute, when the table was one page, would read thousands of them later.
CREATE OR REPLACE FUNCTION durable_lease_token_now(message bigint) RETURNS uuid
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
BEGIN
    RETURN (SELECT l.token FROM {schema}durable_lease AS l WHERE l.id = message);
END $$;
CREATE OR REPLACE FUNCTION durable_lease_token(message bigint) RETURNS uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN {schema}durable_lease_token_now(message);
END $$;

CREATE OR REPLACE VIEW broker_queue AS
SELECT id, name, paused_at FROM durable_queue;

CREATE OR REPLACE VIEW broker_message AS
SELECT m.id, m.queue_id, m.task_id,
       m.tenant AS group_name,              -- NULL: of no group
       m.unique_key,
       (SELECT true FROM durable_ready AS r WHERE r.id = m.id) IS NOT NULL
           AS is_ready,                     -- with EXISTS the planner may read all that are ready for one of them
       coalesce(                            -- ready since then; or then, when the delay or the lease ends; NULL: parked or limited
           (SELECT r.since FROM durable_ready AS r WHERE r.id = m.id),
           (SELECT w.due_at FROM durable_waiting AS w WHERE w.id = m.id),
           (SELECT l.until FROM durable_lease AS l WHERE l.id = m.id)) AS ready_at,
       (SELECT w.reason FROM durable_waiting AS w WHERE w.id = m.id)
           AS delay_reason,                 -- 'eta', 'retry', 'snooze', 'parked' or 'limited'; NULL: ready or leased
       coalesce(                            -- its place among the ready ones, also while it is leased; NULL: it waits
           (SELECT r.rank FROM durable_ready AS r WHERE r.id = m.id),
           (SELECT l.rank FROM durable_lease AS l WHERE l.id = m.id)) AS rank,
       m.step,                              -- how far it puts its group's next one behind itself
       (SELECT durable_lease_token(l.id) FROM durable_lease AS l WHERE l.id = m.id) AS lease_token,
       (SELECT l.started_at FROM durable_lease AS l WHERE l.id = m.id) AS started_at,
       m.delivery_count + (SELECT count(*) FROM durable_lease AS l WHERE l.id = m.id)::integer AS delivery_count,
       m.retry_count, m.snooze_count, m.lost_count, m.cancel_requested_at, m.enqueued_at,
       (SELECT l.node FROM durable_lease AS l WHERE l.id = m.id)
           AS node_id,                      -- NULL: not leased, or by a node without a lock
       m.tenant,                            -- as group_name
       coalesce(m.priority, 0) AS priority  -- 0 to 9
  FROM durable_message AS m;

-- What may be changed through it: that the running task has started, and that the message ends.  The trigger does not
-- know the condition of the statement, and nobody asks it again after a wait.  So nothing is changed, and no row counted,
-- if a lease has ended or begun since the statement saw the message.
CREATE OR REPLACE FUNCTION durable_change() RETURNS trigger LANGUAGE plpgsql {definer} AS $$
DECLARE
    began timestamptz;
BEGIN
    IF TG_RELID <> 'broker_message'::regclass THEN
        RAISE EXCEPTION '% changes what is changed through broker_message only', TG_NAME
              USING errcode = 'insufficient_privilege';
    END IF;
    IF TG_OP = 'DELETE' THEN
        IF durable_keep(OLD.id, true) IS DISTINCT FROM OLD.lease_token THEN
            RETURN NULL;
        END IF;
        RETURN CASE WHEN durable_drop(OLD.id) THEN OLD END;
    END IF;
    began := NEW.started_at;
    NEW.started_at := OLD.started_at;
    IF NEW IS DISTINCT FROM OLD THEN
        RAISE EXCEPTION 'of broker_message only started_at may be changed' USING errcode = 'feature_not_supported';
    END IF;
    PERFORM FROM durable_message WHERE id = OLD.id FOR NO KEY UPDATE;
    UPDATE durable_lease SET started_at = began WHERE id = OLD.id AND token = OLD.lease_token;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    NEW.started_at := began;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER change INSTEAD OF UPDATE OR DELETE ON broker_message
    FOR EACH ROW EXECUTE FUNCTION durable_change();
-- A right on the view is enough, and nobody puts it on a table of his own; one who may, by default, gains nothing.
REVOKE ALL ON FUNCTION durable_change FROM PUBLIC;

-- The messages by their state.  `tenant`: the group, '' for none.
CREATE OR REPLACE VIEW broker_ready AS
SELECT id, queue_id, tenant, rank, since, coalesce(priority, 0) AS priority FROM durable_ready;

CREATE OR REPLACE VIEW broker_lease AS
SELECT id, queue_id, token, node AS node_id, until, started_at FROM durable_lease;

CREATE OR REPLACE VIEW broker_waiting AS
SELECT id, queue_id, tenant, reason, due_at, coalesce(priority, 0) AS priority FROM durable_waiting;

CREATE OR REPLACE VIEW broker_group AS      -- the parked ones
SELECT queue_id, name, probe_at FROM kombu_group;

-- The limits.  `task`, `tenant`: NULL: of any; `rate`: starts a second; `waiting`: messages, counted up to 10,000.
CREATE OR REPLACE VIEW broker_limit AS
SELECT l.id, l.queue_id, l.task, l.tenant, l.per_tenant, 1 / l.seconds AS rate, l.burst,
       (SELECT count(*) FROM (SELECT FROM durable_line AS d JOIN durable_waiting AS w ON w.line = d.id
                               WHERE d.limit_id = l.id LIMIT 10000) AS them) AS waiting
  FROM durable_limit AS l WHERE l.seconds > 0;

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

CREATE OR REPLACE VIEW broker_facts AS SELECT * FROM durable_facts();

-- Of the groups with the most waiting, or of the one that is named; '' are the messages of no group.
CREATE OR REPLACE FUNCTION broker_group_facts(queue_name text, group_name text, most integer) RETURNS TABLE (
    name text, ready bigint, oldest_seconds double precision, leased bigint, delayed bigint, parked bigint,
    estimated text[])
LANGUAGE sql STABLE AS $$
    SELECT * FROM {schema}durable_groups(queue_name, group_name, most);
$$;

-- Park a group.  `seconds`: as often one of its messages is woken in any case; `task`: of its messages one that was
-- claimed and did not run.  -> how many were parked.
CREATE OR REPLACE FUNCTION broker_park(
    queue_name text, group_name text, seconds double precision, task text DEFAULT NULL
) RETURNS integer
LANGUAGE sql AS $$ SELECT {schema}durable_park(queue_name, group_name, seconds, task) $$;

-- Make waiting messages of a group ready, by their priority and then their age.  `step`: theirs from now on; NULL: as
-- they were published.
-- -> their task ids.
CREATE OR REPLACE FUNCTION broker_wake(queue_name text, group_name text, most integer, step integer DEFAULT NULL)
RETURNS SETOF text
LANGUAGE sql AS $$
    SELECT {schema}durable_wake(id, group_name, most, step) FROM {schema}durable_queue WHERE name = queue_name;
$$;

-- -> whether a node sleeps that has a process to spare.  Locks until the end of the transaction: a publisher's advisory
-- lock, shared, so that the node does not fall asleep unseen.
CREATE OR REPLACE FUNCTION broker_is_node_idle(queue_id integer) RETURNS boolean
LANGUAGE sql AS $$ SELECT {schema}durable_wanted(queue_id) $$;

-- -> the rank that the next message of a group would get, were it ready now.
CREATE OR REPLACE FUNCTION broker_next_rank(queue_id integer, group_name text, step integer) RETURNS bigint
LANGUAGE plpgsql STABLE {settings} AS $$
BEGIN
    RETURN greatest(
        durable_rank(queue_id, group_name, step),
        (SELECT g.rank FROM kombu_group AS g WHERE g.queue_id = broker_next_rank.queue_id
            AND g.name = broker_next_rank.group_name));
END $$;

-- Give out nothing of a queue from now on; one that is paused stays so since then.
CREATE OR REPLACE FUNCTION broker_pause(queue_name text, since timestamptz DEFAULT clock_timestamp()) RETURNS void
LANGUAGE sql AS $$
    UPDATE {schema}durable_queue SET paused_at = coalesce(paused_at, since) WHERE name = queue_name;
$$;

-- Go on with it.
CREATE OR REPLACE FUNCTION broker_resume(queue_name text) RETURNS void
LANGUAGE sql AS $$
    UPDATE {schema}durable_queue SET paused_at = NULL WHERE name = queue_name;
    SELECT pg_notify('{channel}', queue_name);
$$;

-- Let at most `rate` messages of a queue start in a second, and `burst` of them at once: those of a task by its name, of
-- a tenant ('' is none), of each tenant by itself, or of a task and a tenant; NULL: of any.  `rate`: as Celery writes it,
-- '10/s', '100/m', '5/h', or a number.  The limit that was there for these is changed; who waits goes on with it.
-- Locks: the queue, which publishes and claims do not wait for, and the limit.  An error: there is no such queue, or a
-- value that is none.
CREATE OR REPLACE FUNCTION broker_limit(
    queue_name text, rate text, task text DEFAULT NULL, tenant text DEFAULT NULL, per_tenant boolean DEFAULT false,
    burst numeric DEFAULT 1
) RETURNS void
LANGUAGE plpgsql {settings} AS $$
#variable_conflict use_column
DECLARE
    pause CONSTANT double precision := durable_seconds(rate);
    which integer;
    wrong CONSTANT text := CASE
        WHEN burst = floor(burst) AND burst BETWEEN 1 AND 10000 THEN NULL
        ELSE concat('burst is a whole number from 1 to 10000, not ', coalesce(left(burst::text, 100), 'NULL')) END;
BEGIN
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', wrong USING errcode = 'invalid_parameter_value';
    ELSIF broker_limit.per_tenant AND broker_limit.tenant IS NOT NULL THEN
        RAISE EXCEPTION 'a limit is of one tenant, or of each by itself, not both' USING errcode = 'invalid_parameter_value';
    ELSIF broker_limit.task = '' THEN
        RAISE EXCEPTION 'the name of a task is empty' USING errcode = 'invalid_parameter_value';
    ELSIF greatest(length(broker_limit.task), length(broker_limit.tenant)) > 500 THEN
        RAISE EXCEPTION 'the name of a task or a tenant with a limit has at most 500 characters'
              USING errcode = 'invalid_parameter_value';
    END IF;
    UPDATE durable_queue SET has_limits = true WHERE name = queue_name RETURNING id INTO which;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no queue %', queue_name USING errcode = 'foreign_key_violation';
    END IF;
    INSERT INTO durable_limit AS l (queue_id, task, tenant, per_tenant, seconds, burst)
    VALUES (which, broker_limit.task, broker_limit.tenant, coalesce(broker_limit.per_tenant, false), pause,
            broker_limit.burst)
    ON CONFLICT (queue_id, per_tenant, coalesce(task, ''), coalesce('=' || tenant, '')) WHERE seconds > 0 DO UPDATE
       SET seconds = excluded.seconds, burst = excluded.burst, changed_at = clock_timestamp()
     WHERE (l.seconds, l.burst) IS DISTINCT FROM (excluded.seconds, excluded.burst);
    IF FOUND THEN
        PERFORM pg_notify('{channel}', queue_name || E'\t{rank_soon}');
    END IF;
END $$;

-- The same; `rate`: starts in a second.
CREATE OR REPLACE FUNCTION broker_limit(
    queue_name text, rate double precision, task text DEFAULT NULL, tenant text DEFAULT NULL,
    per_tenant boolean DEFAULT false, burst numeric DEFAULT 1
) RETURNS void
LANGUAGE sql AS $$ SELECT {schema}broker_limit(queue_name, rate::numeric::text, task, tenant, per_tenant, burst) $$;

-- Remove a limit; what waits for it is ready soon.  -> whether there was one.  Locks: the limit.
CREATE OR REPLACE FUNCTION broker_unlimit(
    queue_name text, task text DEFAULT NULL, tenant text DEFAULT NULL, per_tenant boolean DEFAULT false
) RETURNS boolean
LANGUAGE plpgsql {settings} AS $$
BEGIN
    UPDATE durable_limit AS l SET seconds = 0, changed_at = clock_timestamp()
     WHERE l.queue_id = (SELECT id FROM durable_queue WHERE name = queue_name) AND l.seconds > 0
       AND l.task IS NOT DISTINCT FROM broker_unlimit.task AND l.tenant IS NOT DISTINCT FROM broker_unlimit.tenant
       AND l.per_tenant = coalesce(broker_unlimit.per_tenant, false);
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM pg_notify('{channel}', queue_name || E'\t{rank_soon}');
    RETURN true;
END $$;

-- Put dead letters back on their queues.  -> what became of each: 'redriven', 'in the way' or 'no queue'; a letter that
-- somebody else holds is in no row.
CREATE OR REPLACE FUNCTION broker_redrive(letters bigint[]) RETURNS TABLE (letter bigint, outcome text)
LANGUAGE sql AS $$ SELECT letter, outcome FROM {schema}durable_redrive(letters) $$;

-- Where nodes listen: pg_notify(broker_channel(), queue) tells them that something of the queue became ready.
CREATE OR REPLACE FUNCTION broker_channel() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '{channel}' $$;
