-- Deliveries after the bound are refused until the last step, which therefore has a month or two to come.  A migration
-- that was interrupted so long ago that the bound is near begins again.
DO $$
DECLARE
    bound timestamptz := date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + interval '2 months';
    was text;
BEGIN
    SELECT pg_get_constraintdef(oid) INTO was FROM pg_constraint
     WHERE conrelid = 'webhook_deliveries'::regclass AND conname = 'webhook_deliveries_before';
    IF substring(was FROM '''(.*?)''')::timestamptz > now() + interval '20 days' THEN
        RETURN;
    END IF;
    ALTER TABLE webhook_deliveries DROP CONSTRAINT IF EXISTS webhook_deliveries_before;
    EXECUTE format('ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_before
                    CHECK (happened_at < %L) NOT VALID', bound);
END $$;
