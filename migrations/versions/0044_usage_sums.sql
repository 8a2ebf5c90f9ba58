-- Billed units by user, kind and hour: what an accept adds up instead of each bill of the period.
CREATE TABLE usage_sums (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    event_type usage_event_type NOT NULL,
    hour_at timestamptz NOT NULL,
    amount bigint NOT NULL,
    PRIMARY KEY (user_id, event_type, hour_at)
) WITH (fillfactor = 70);  -- room for the updates of the present hour to stay on their page
COMMENT ON COLUMN usage_sums.hour_at IS 'its first instant, in UTC, of usage_events.accepted_at';
COMMENT ON COLUMN usage_sums.amount IS 'sum of the events of the hour, kept by a trigger on usage_events';

-- How far each backfill of a migration has come, so that it continues where it was interrupted.
CREATE TABLE backfills (
    name text PRIMARY KEY,
    done bigint NOT NULL DEFAULT 0,
    upto bigint NOT NULL,
    CHECK (done <= upto)
);
COMMENT ON COLUMN backfills.done IS 'the last id that is filled in';
COMMENT ON COLUMN backfills.upto IS 'the last id of before its migration; later rows are written whole';

-- As app/store/sql/usage.sql, but an event of before the trigger is in its sum only when the backfill has passed it.
-- The lock makes a change of such an event and the batch that sums it up wait for each other.
CREATE OR REPLACE FUNCTION usage_events_sum_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM FROM backfills b WHERE b.name = 'usage_sums' FOR SHARE;
        IF EXISTS (SELECT FROM backfills b WHERE b.name = 'usage_sums' AND OLD.id > b.done AND OLD.id <= b.upto) THEN
            RETURN NULL;
        END IF;
        UPDATE usage_sums s SET amount = s.amount - OLD.quota_amount
         WHERE s.user_id = OLD.user_id AND s.event_type = OLD.event_type
           AND s.hour_at = date_trunc('hour', OLD.accepted_at, 'UTC');
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.user_id IS NOT NULL THEN
        INSERT INTO usage_sums AS s (user_id, event_type, hour_at, amount)
        VALUES (NEW.user_id, NEW.event_type, date_trunc('hour', NEW.accepted_at, 'UTC'), NEW.quota_amount)
        ON CONFLICT (user_id, event_type, hour_at) DO UPDATE SET amount = s.amount + excluded.amount;
    END IF;
    RETURN NULL;
END $$;

-- This waits for every transaction that has written an event, and no other begins before the commit: what is there
-- now is of before the trigger, and what comes later has a higher id.
CREATE OR REPLACE TRIGGER usage_events_sum_up
    AFTER INSERT OR DELETE OR UPDATE OF user_id, event_type, quota_amount, accepted_at ON usage_events
    FOR EACH ROW EXECUTE FUNCTION usage_events_sum_up();
INSERT INTO backfills (name, upto) SELECT 'usage_sums', coalesce(max(id), 0) FROM usage_events;
