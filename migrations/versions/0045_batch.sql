-- One batch of the sums of the events of before 0044.  The lock on its place comes first, in a statement of its own:
-- the next one then sees every change that did not find its event in a sum.
DO $$
DECLARE
    place backfills;
    last bigint;
BEGIN
    SELECT * INTO place FROM backfills b WHERE b.name = 'usage_sums' FOR UPDATE;
    last := least(place.done + 5000, place.upto);
    INSERT INTO usage_sums AS s (user_id, event_type, hour_at, amount)
    SELECT e.user_id, e.event_type, date_trunc('hour', e.accepted_at, 'UTC'), sum(e.quota_amount)
      FROM usage_events e WHERE e.id > place.done AND e.id <= last AND e.user_id IS NOT NULL
     GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (user_id, event_type, hour_at) DO UPDATE SET amount = s.amount + excluded.amount;
    UPDATE backfills b SET done = last WHERE b.name = 'usage_sums';
END $$;
