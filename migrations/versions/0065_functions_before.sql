CREATE OR REPLACE FUNCTION webhooks_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, event_id, job_id, type, happened_at, status, due_at, fault)
    SELECT w.id, NEW.id, NEW.job_id, told.type, NEW.at,
           CASE WHEN pending.is_full THEN 'failed' ELSE 'pending' END,
           CASE WHEN NOT pending.is_full THEN NEW.at END,
           CASE WHEN pending.is_full THEN 'too_many_pending' END
      FROM analysis_requests r
      JOIN webhooks w ON w.user_id = r.user_id
     CROSS JOIN LATERAL (SELECT CASE r.service WHEN 'specview' THEN 'specification.' ELSE 'analysis.' END
                                || NEW.event AS type) AS told
     CROSS JOIN LATERAL (SELECT count(*) = 100 AS is_full FROM (
                             SELECT FROM webhook_deliveries d
                              WHERE d.webhook_id = w.id AND d.due_at IS NOT NULL LIMIT 100) AS few) AS pending
     WHERE r.job_id = NEW.job_id AND w.disabled_at IS NULL AND told.type = ANY (w.events)
       -- the payer who left, like the payer of a cancelled job, has an accept record with the time of that
       AND r.role <> 'left' AND (r.cancelled_at IS NULL OR NEW.event = 'cancelled')
        ON CONFLICT (webhook_id, event_id) DO NOTHING;
    RETURN NULL;
END $$;
