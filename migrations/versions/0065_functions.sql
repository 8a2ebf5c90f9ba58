-- As app/store/sql/webhooks.sql.
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
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

-- Find the parts of a table that is partitioned by ranges of time.  Returns: each with its range, which begins at
-- -infinity if it has everything before its end; a default part has none.  Locks: nothing.
CREATE OR REPLACE FUNCTION partition_bounds(parent regclass, OUT part regclass, OUT begins timestamptz, OUT ends timestamptz)
RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
    SELECT c.oid::regclass,
           CASE WHEN b.bound <> 'DEFAULT'
                THEN coalesce(substring(b.bound FROM 'FROM \(''(.*?)''\)')::timestamptz, '-infinity') END,
           CASE WHEN b.bound <> 'DEFAULT'
                THEN coalesce(substring(b.bound FROM 'TO \(''(.*?)''\)')::timestamptz, 'infinity') END
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid) AS bound) b
     WHERE i.inhparent = parent AND NOT i.inhdetachpending
$$;

-- Make the parts of this month and of the two to come, unless any part has some of such a month, and drop those that end
-- before `before`.  Whoever else makes or drops parts (pg_partman) is left alone: only bounds count, not names.  It has
-- the rights of its owner, since the application may make and drop nothing else.
-- Returns: the parts that were made, those that were dropped, and about how many rows these had.
-- Locks: the parts that it drops, the table and webhooks against everybody, for a moment; if a part is made, the default
-- part and writers of webhooks.  It waits for each half a second at most, less than a deadlock takes to be found.
CREATE OR REPLACE FUNCTION webhook_deliveries_months(
    parent regclass, at timestamptz, before timestamptz, OUT made text[], OUT dropped text[], OUT rows bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET timezone = 'UTC' SET lock_timeout = '500ms' AS $$
DECLARE
    place CONSTANT text := (SELECT quote_ident(nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
                             WHERE c.oid = parent AND relname = 'webhook_deliveries');
    rest regclass;
    is_there boolean;
    first timestamptz;
    name text;
    found record;
BEGIN
    IF place IS NULL THEN
        RAISE EXCEPTION '% is not kept by month', parent;
    END IF;
    made := '{}'; dropped := '{}'; rows := 0;
    FOR n IN 0..2 LOOP
        first := date_trunc('month', at) + n * interval '1 month';
        EXECUTE format('SELECT bool_or(begins < $2 + interval ''1 month'' AND ends > $2),
                               (array_agg(part) FILTER (WHERE begins IS NULL))[1] FROM %s.partition_bounds($1)', place)
           INTO is_there, rest USING parent, first;
        CONTINUE WHEN is_there;
        name := place || '.webhook_deliveries_' || to_char(first, 'YYYY_MM');
        EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name, parent);
        IF rest IS NOT NULL THEN  -- what came while the month had no part
            EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', rest);
            EXECUTE format('WITH late AS (DELETE FROM %s WHERE happened_at >= %L AND happened_at < %L RETURNING *)
                            INSERT INTO %s SELECT * FROM late', rest, first, first + interval '1 month', name);
        END IF;
        EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%L) TO (%L)',
                       parent, name, first, first + interval '1 month');
        made := made || name;
    END LOOP;
    FOR found IN EXECUTE format('SELECT b.part, greatest(c.reltuples, 0)::bigint AS rows
                                   FROM %s.partition_bounds($1) b JOIN pg_class c ON c.oid = b.part
                                  WHERE b.ends <= $2', place) USING parent, before
    LOOP
        dropped := dropped || found.part::text;
        rows := rows + found.rows;
        EXECUTE format('DROP TABLE %s', found.part);
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION webhook_deliveries_months FROM PUBLIC;
