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
