-- The functions that look for messages by their state, over the views of the three states.

-- Waking what waits for a slot of its user.

-- Make the oldest waiting jobs of a user and service ready, `most` of them, on whichever queues of the service they
-- are: after a change of tier a user has jobs on two.  `step`: how far each moves its user back in the fair order.
-- Returns: the ids of the jobs.
-- Locks: their messages, skipping locked ones; the rows of parked groups, as broker_wake says.
CREATE OR REPLACE FUNCTION wake_user(who text, service text, most integer, step integer) RETURNS SETOF uuid
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    one record;
    woken text;
    left_over integer := most;
BEGIN
    FOR one IN
        SELECT q.name FROM broker_queue q, LATERAL (
            SELECT least(
                (SELECT w.id FROM broker_waiting w WHERE w.queue_id = q.id AND w.reason = 'parked'
                    AND w.tenant = who ORDER BY w.id LIMIT 1),
                (SELECT w.id FROM broker_waiting w WHERE w.queue_id = q.id AND w.reason = 'snooze'
                    AND w.tenant = who ORDER BY w.id LIMIT 1)) AS id) AS oldest
         WHERE starts_with(q.name, service || '_')
           AND (oldest.id IS NOT NULL OR EXISTS (SELECT FROM broker_group g WHERE g.queue_id = q.id AND g.name = who))
         ORDER BY oldest.id
    LOOP
        -- with none left over this only forgets a group of which nothing waits
        FOR woken IN SELECT * FROM broker_wake(one.name, who, left_over, step) LOOP
            left_over := left_over - 1;
            RETURN NEXT woken::uuid;
        END LOOP;
    END LOOP;
END $$;

-- Read the messages of unfinished jobs, and where they stand.  As a statement of the application, which is planned each
-- time with all that broker_message reads for a column, this took 0.49 ms instead of 0.19.
-- jobs: their ids.  locks: keep them from being moved or deleted, but not from being claimed, and say where they stand
-- after the wait.
-- Returns: a row for each; of a job with several messages one that a node holds is the last.
-- Locks: if asked to, the messages, in the order of their ids.
CREATE OR REPLACE FUNCTION job_messages(jobs text[], locks boolean) RETURNS TABLE (
    task_id text, queue text, paused_at timestamptz, user_id text, ready_at timestamptz, delay_reason text,
    lease_token uuid, started_at timestamptz, retry_count integer, snooze_count integer, lost_count integer,
    cancel_requested_at timestamptz, enqueued_at timestamptz, id bigint, rank bigint)
LANGUAGE plpgsql ROWS 1
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    IF locks THEN
        PERFORM FROM broker_message m WHERE m.task_id = ANY (jobs) ORDER BY m.id FOR UPDATE;
    END IF;
    RETURN QUERY
    SELECT m.task_id, q.name::text, q.paused_at, m.group_name, m.ready_at, m.delay_reason, m.lease_token, m.started_at,
           m.retry_count, m.snooze_count, m.lost_count, m.cancel_requested_at, m.enqueued_at, m.id, m.rank
      FROM broker_message m JOIN broker_queue q ON q.id = m.queue_id
     WHERE m.task_id = ANY (jobs) ORDER BY m.lease_token IS NOT NULL, m.id;
END $$;

-- In whose line a job waits that several users asked for.

-- Count the runs that a job waits for before its own, in the line of one user: first the jobs of that user, `slots`
-- at a time (NULL: no limit), then everybody's on the queue, as many at a time as its workers run now.
-- who: NULL for the schedule.  step: how far the job would move its user back.  most: nothing is counted beyond it.
-- Returns: the number; infinity for the schedule, for a paused queue, and when the job or the queue is gone.
-- Locks: none.
-- A job that is not in that line is counted where it would be: inside the line by its age, since a wake takes the
-- oldest first, and on the queue where the user's next job would stand.
CREATE OR REPLACE FUNCTION job_turns(job text, who text, queue_name text, slots integer, step integer, most integer)
RETURNS double precision
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    me record;
    which record;
    standing boolean;
    place bigint;
    own bigint;
    ahead bigint;
    workers bigint;
BEGIN
    SELECT m.id, m.queue_id, m.group_name, m.rank, m.is_ready INTO me FROM broker_message m WHERE m.task_id = job;
    SELECT q.id, q.paused_at IS NOT NULL AS paused INTO which FROM broker_queue q WHERE q.name = queue_name;
    IF me.id IS NULL OR who IS NULL OR which.id IS NULL OR which.paused THEN
        RETURN 'infinity';
    END IF;
    standing := coalesce(me.group_name = who, false) AND me.is_ready AND me.queue_id = which.id;
    IF standing THEN
        place := me.rank;
    ELSE
        place := broker_next_rank(which.id, who, step);
    END IF;
    ahead := (SELECT count(*) FROM (
                 SELECT FROM broker_ready r
                  WHERE r.queue_id = which.id AND (r.rank, r.id) < (place, me.id) AND r.id <> me.id
                  LIMIT most) AS before);
    workers := (SELECT count(*) FROM broker_lease l
                 WHERE l.queue_id = which.id AND l.until > now() AND l.started_at IS NOT NULL);
    IF slots IS NULL THEN
        RETURN ahead / greatest(1, workers)::double precision;
    END IF;
    own := (SELECT count(*) FROM execution_slots s
             WHERE s.user_id = who::uuid AND s.service = split_part(queue_name, '_', 1)
               AND EXISTS (SELECT FROM broker_message m
                            WHERE m.task_id = s.job_id::text AND m.lease_token = s.lease_token))
         + (SELECT count(*) FROM (
               SELECT FROM broker_ready r
                WHERE r.queue_id = which.id AND r.tenant = who
                  AND r.id <> me.id AND (NOT standing OR (r.rank, r.id) < (place, me.id)) LIMIT most) AS ready);
    IF NOT standing THEN
        own := own
             + (SELECT count(*) FROM (
                   SELECT FROM broker_waiting w
                    WHERE w.queue_id = which.id AND w.reason = 'parked' AND w.tenant = who
                      AND (w.reason, w.tenant, w.id) < ('parked', who, me.id)
                    LIMIT most) AS parked)
             + (SELECT count(*) FROM (
                   SELECT FROM broker_waiting w
                    WHERE w.queue_id = which.id AND w.reason = 'snooze' AND w.tenant = who
                      AND (w.reason, w.tenant, w.id) < ('snooze', who, me.id)
                    LIMIT most) AS snoozed);
    END IF;
    RETURN own / greatest(1, slots) + ahead / greatest(1, workers)::double precision;
END $$;

-- The place of a job that waits, and what an estimate of its wait needs.

-- Count what an unfinished job waits for, and read how long such jobs took, in one round trip.
-- most: nothing is counted beyond it.  codebase, commit_id, parser: the commit that `completed` is asked for, or
-- NULL.
-- Returns: one row, of NULLs when the job's message is gone.  held: the job is parked or snoozed, and waits behind
-- its user's own only: `own` counts those, and `ahead` is the same.  Of a job that is ready, `ahead` counts all that
-- are ranked before it, and `own` the user's among them; of one that a node holds, nothing.  oldest: since when the
-- first of them is ready.  workers: jobs of the queue that run.  taken: slots of the user that are in use.
-- run_seconds, run_deviation: of the 50 newest jobs of the service.  worker_free: a node that sleeps has a process to
-- spare; it is asked for the first job in line only.  completed: an analysis of the commit by this parser.
-- Locks: for the first job in line the advisory lock of a publisher, shared, until the end of the transaction.
-- The end of a lease leaves out those that are over: while an old snapshot is open, the index still has their entries.
-- A clock that goes on would be no condition of the index.
-- The row comparisons are of the index's columns: for a plain comparison of ids the planner takes the primary key,
-- and reads all that is older.  As statements of the application, which are planned each time, this took 0.15 ms of
-- every accept.
CREATE OR REPLACE FUNCTION job_line(
    job text, most integer, codebase uuid, commit_id text, parser text,
    OUT paused boolean, OUT held boolean, OUT oldest timestamptz, OUT ahead bigint, OUT own bigint, OUT workers bigint,
    OUT taken bigint, OUT run_seconds double precision, OUT run_deviation double precision, OUT worker_free boolean,
    OUT completed uuid
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    me record;
BEGIN
    SELECT m.id, m.queue_id, m.group_name, r.rank, coalesce(r.since, w.due_at, m.enqueued_at) AS ready_at,
           q.paused_at IS NOT NULL AS paused, coalesce(w.reason IN ('parked', 'snooze'), false) AS held,
           split_part(q.name, '_', 1) AS service
      INTO me FROM broker_message m JOIN broker_queue q ON q.id = m.queue_id
      LEFT JOIN broker_ready r ON r.id = m.id LEFT JOIN broker_waiting w ON w.id = m.id WHERE m.task_id = job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    paused := me.paused;
    held := me.held;
    taken := (SELECT count(*) FROM execution_slots s
               WHERE s.user_id = me.group_name::uuid AND s.service = me.service
                 AND EXISTS (SELECT FROM broker_message m
                              WHERE m.task_id = s.job_id::text AND m.lease_token = s.lease_token));
    IF held THEN
        oldest := me.ready_at;
        SELECT count(*) INTO own FROM (
            SELECT FROM broker_waiting w
             WHERE w.queue_id = me.queue_id AND w.reason = 'parked' AND w.tenant = me.group_name
               AND (w.reason, w.tenant, w.id) < ('parked', me.group_name, me.id)
             LIMIT most) AS parked;
        own := own + (SELECT count(*) FROM broker_waiting w
                       WHERE w.queue_id = me.queue_id AND w.reason = 'snooze' AND w.tenant = me.group_name
                         AND (w.reason, w.tenant, w.id) < ('snooze', me.group_name, me.id))
                   + (SELECT count(*) FROM (
                         SELECT FROM broker_ready r
                          WHERE r.queue_id = me.queue_id AND r.tenant = me.group_name LIMIT most) AS ready);
        own := least(own, most);
        ahead := own;
    ELSE
        SELECT coalesce(min(f.ready_at), me.ready_at), count(*), count(*) FILTER (WHERE f.tenant = me.group_name)
          INTO oldest, ahead, own
          FROM (SELECT r.tenant, r.since AS ready_at FROM broker_ready r
                 WHERE r.queue_id = me.queue_id AND (r.rank, r.id) < (me.rank, me.id)
                 ORDER BY r.rank, r.id LIMIT most) AS f;
        worker_free := ahead = 0 AND broker_is_node_idle(me.queue_id);
    END IF;
    workers := (SELECT count(*) FROM broker_lease l
                 WHERE l.queue_id = me.queue_id AND l.until > now() AND l.started_at IS NOT NULL);
    IF me.service = 'specview' THEN
        SELECT avg(r.seconds), coalesce(stddev_samp(r.seconds), 0) INTO run_seconds, run_deviation
          FROM (SELECT extract(epoch FROM d.completed_at - d.started_at) AS seconds FROM spec_documents d
                 WHERE d.status = 'completed' ORDER BY d.completed_at DESC LIMIT 50) AS r;
    ELSE
        SELECT avg(r.seconds), coalesce(stddev_samp(r.seconds), 0) INTO run_seconds, run_deviation
          FROM (SELECT extract(epoch FROM a.completed_at - a.started_at) AS seconds FROM analyses a
                 WHERE a.status = 'completed' ORDER BY a.completed_at DESC LIMIT 50) AS r;
    END IF;
    IF codebase IS NOT NULL THEN
        completed := (SELECT a.id FROM analyses a
                       WHERE a.codebase_id = codebase AND a.commit_sha = commit_id AND a.parser_version = parser
                         AND a.status = 'completed');
    END IF;
END $$;

-- How long the messages of a queue wait.

-- Find the oldest message of a queue that waits for a slot of its own user: one that is parked or snoozed.
-- most: how many users are looked at, for the parked and for the snoozed messages each.
-- Returns: when that message was enqueued, NULL if none waits so; whether all such users were looked at.
-- Locks: none.
-- The index is sorted by user and then by age, so each step finds the next user together with that user's oldest
-- message.  That costs 10 µs for each user, however many messages there are (measured 2026-11-23 with 1,000,000
-- messages of 5,000 users).
CREATE OR REPLACE FUNCTION queue_parked_since(
    which integer, most integer, OUT since timestamptz, OUT complete boolean
) LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    looked_for text;
    one record;
    last text;
BEGIN
    complete := true;
    FOREACH looked_for IN ARRAY ARRAY['parked', 'snooze'] LOOP
        last := '';  -- which is no user
        FOR looked IN 0..most LOOP
            SELECT w.tenant AS name, w.id INTO one FROM broker_waiting w
             WHERE w.queue_id = which AND w.reason = looked_for AND w.tenant > last
             ORDER BY w.tenant, w.id LIMIT 1;
            EXIT WHEN NOT FOUND;
            IF looked = most THEN
                complete := false;
                EXIT;
            END IF;
            since := least(since, (SELECT m.enqueued_at FROM broker_message m WHERE m.id = one.id));
            last := one.name;
        END LOOP;
    END LOOP;
END $$;
