-- A task may have a message on each of several queues.  An index of that name that was built CONCURRENTLY before is
-- taken, and then nothing here waits for writers: README, "Operating it".
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
                WHERE indexrelid = to_regclass('kombu_message_task_queue') AND NOT indisvalid) THEN
        DROP INDEX kombu_message_task_queue;
    END IF;
    IF to_regclass('kombu_message_task_queue') IS NULL THEN
        CREATE UNIQUE INDEX kombu_message_task_queue ON kombu_message (task_id, queue_id)
         WHERE task_id IS NOT NULL;
    END IF;
END $$;
DROP INDEX IF EXISTS kombu_message_task_id;
ALTER INDEX kombu_message_task_queue RENAME TO kombu_message_task_id;
