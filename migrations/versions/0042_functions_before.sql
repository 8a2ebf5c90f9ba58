-- What webhooks are told.

-- Make a delivery for each webhook that is to be told of the end of a job: those of the users who asked for the job and
-- did not leave it.  A trigger, because a job may end in many ways, and because its plan is kept for the session; only
-- the final events call it (docs/adr/0054).  Returns: nothing.  Locks: nothing but its new rows.
CREATE OR REPLACE FUNCTION webhooks_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, event_id, job_id, type, happened_at, due_at)
    SELECT w.id, NEW.id, NEW.job_id, told.type, NEW.at, NEW.at
      FROM analysis_requests r
      JOIN webhooks w ON w.user_id = r.user_id
     CROSS JOIN LATERAL (SELECT CASE r.service WHEN 'specview' THEN 'specification.' ELSE 'analysis.' END
                                || NEW.event AS type) AS told
     WHERE r.job_id = NEW.job_id AND w.disabled_at IS NULL AND told.type = ANY (w.events)
       -- the payer who left, like the payer of a cancelled job, has an accept record with the time of that
       AND r.role <> 'left' AND (r.cancelled_at IS NULL OR NEW.event = 'cancelled')
        ON CONFLICT (webhook_id, event_id) DO NOTHING;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER job_events_tell_webhooks AFTER INSERT ON job_events
    FOR EACH ROW WHEN (NEW.event IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION webhooks_tell();
