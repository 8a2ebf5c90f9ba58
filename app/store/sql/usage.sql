-- Billed units: a running sum per user, kind and hour, and the sum of a period that is computed from them.

-- Keep usage_sums equal to the sums of usage_events, whoever writes these: the previous release does not know the sums.
-- Returns: nothing.
-- Locks: the row of the event's user, kind and hour, until the end of the transaction.  A finish holds the users row
-- by then and takes one such row; whoever changes many events takes them in the order of the events (docs/adr/0062).
CREATE OR REPLACE FUNCTION usage_events_sum_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        -- no row is left if the user is being deleted
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

CREATE OR REPLACE TRIGGER usage_events_sum_up
    AFTER INSERT OR DELETE OR UPDATE OF user_id, event_type, quota_amount, accepted_at ON usage_events
    FOR EACH ROW EXECUTE FUNCTION usage_events_sum_up();

-- Sum up the billed units of a user that were accepted from `since` to before `until`: whole hours by their sums, and
-- the rest at both ends by its events.
-- Returns: units, exactly the sum of the events.  The function is stable: it sees what its caller's statement sees.
-- Locks: nothing.
CREATE OR REPLACE FUNCTION usage_used(who uuid, kind usage_event_type, since timestamptz, until timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- the first instant of an hour from `since` on, and the last one up to `until`
    first timestamptz := date_trunc('hour', since + interval '1 hour' - interval '1 microsecond', 'UTC');
    last timestamptz := greatest(first, date_trunc('hour', until, 'UTC'));
BEGIN
    RETURN (SELECT coalesce(sum(s.amount), 0) FROM usage_sums s
             WHERE s.user_id = who AND s.event_type = kind AND s.hour_at >= first AND s.hour_at < last)
         + (SELECT coalesce(sum(e.quota_amount), 0) FROM usage_events e
             WHERE e.user_id = who AND e.event_type = kind
               AND e.accepted_at >= since AND e.accepted_at < least(first, until))
         + (SELECT coalesce(sum(e.quota_amount), 0) FROM usage_events e
             WHERE e.user_id = who AND e.event_type = kind AND e.accepted_at >= last AND e.accepted_at < until);
END $$;
