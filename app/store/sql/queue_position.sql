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
                         AND a.status = 'completed' AND a.duplicate_of IS NULL);
    END IF;
END $$;
