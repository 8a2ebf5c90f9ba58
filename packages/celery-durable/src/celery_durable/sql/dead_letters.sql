-- Dead letters that go back to their queues.

-- Put dead letters back on their queues as new messages.  One whose task id or unique key is there again, or whose
-- queue is not, stays dead; one that somebody else holds is left out.  -> what became of each: 'redriven', 'in the way'
-- or 'no queue'.  Locks besides: the letters.
CREATE OR REPLACE FUNCTION durable_redrive(letters bigint[]) RETURNS TABLE (letter bigint, task text, outcome text)
LANGUAGE plpgsql {settings} AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT * FROM kombu_dead_letter WHERE id = ANY (letters) ORDER BY id FOR UPDATE SKIP LOCKED LOOP
        letter := one.id;
        task := one.task_id;
        IF NOT EXISTS (SELECT FROM durable_queue WHERE name = one.queue) THEN
            outcome := 'no queue';
        ELSIF durable_publish(one.queue, one.payload, one.task_id, one.user_id, one.unique_key, NULL, one.rank_step,
                                one.queue, priority => durable_priority(one.payload)) IS NULL THEN
            outcome := 'in the way';
        ELSE
            DELETE FROM kombu_dead_letter WHERE id = one.id;
            outcome := 'redriven';
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;
