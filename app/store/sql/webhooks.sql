-- What webhooks are told.

-- Make a delivery for each webhook that is to be told of the end of a job: those of the users who asked for the job and
-- did not leave it.  A trigger, because a job may end in many ways, and because its plan is kept for the session; only
-- the final events call it (docs/adr/0054).  A webhook with 100 pending deliveries is not sent more: the log says so,
-- and its owner can replay the delivery.  Returns: nothing.  Locks: nothing but its new rows.
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

CREATE OR REPLACE TRIGGER job_events_tell_webhooks AFTER INSERT ON job_events
    FOR EACH ROW WHEN (NEW.event IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION webhooks_tell();

-- Find webhooks with a delivery that is due: from the deliveries to their webhooks, since few are due, and to ask 5,000
-- webhooks that are not would cost 9 ms.  A webhook whose turn waits for a worker gets no second one, nor does an account
-- of which one is under way.  A turn that seems to last longer than 15 minutes, here and below, began before the clock
-- was set back, and is over.
-- As statements of the application, which are planned each time for all parts of the table, this and the four below
-- took PostgreSQL 1.3 to 1.8 times as long as with one table (docs/adr/0094); their plans are kept by the session.
-- Returns: at most `most`, those that have rested longest after those that never failed.  Locks: nothing.
CREATE OR REPLACE FUNCTION webhooks_due(most integer) RETURNS SETOF uuid LANGUAGE plpgsql STABLE ROWS 10
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    at CONSTANT timestamptz := clock_timestamp();
BEGIN
    RETURN QUERY
    WITH due AS MATERIALIZED (
        SELECT DISTINCT d.webhook_id FROM webhook_deliveries d WHERE d.due_at IS NOT NULL AND d.due_at <= at)
    SELECT w.id FROM due JOIN webhooks w ON w.id = due.webhook_id
     WHERE w.disabled_at IS NULL AND coalesce(w.paused_until <= at, true)
       AND NOT EXISTS (SELECT FROM broker_message m WHERE m.unique_key = 'webhook ' || w.id)
       AND NOT EXISTS (SELECT FROM webhooks o WHERE o.user_id = w.user_id
                          AND o.turn_until > at AND o.turn_until < at + interval '15 minutes')
     ORDER BY w.paused_until NULLS FIRST LIMIT most;
END $$;

-- Begin a turn of a webhook for each of at most `most` accounts with something due: the account that was served longest
-- ago is first, and of its webhooks the one that was.  turn_until is in the future while a turn is under way, and says
-- afterwards when it ended; after `seconds` the turn counts as over, because its worker died.
-- Returns: the webhooks.
-- Locks: the advisory lock of all claims, since a row that is taken says nothing of the account's other webhooks, then
-- the rows of these webhooks.
CREATE OR REPLACE FUNCTION webhooks_claim(most integer, seconds double precision) RETURNS SETOF uuid
LANGUAGE plpgsql ROWS 10
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    at timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('fairlane webhook turns'), 0);
    at := clock_timestamp();
    RETURN QUERY
    WITH due AS MATERIALIZED (
        SELECT DISTINCT d.webhook_id FROM webhook_deliveries d WHERE d.due_at IS NOT NULL AND d.due_at <= at),
    first AS (
        SELECT DISTINCT ON (w.user_id) w.id,
               (SELECT max(o.turn_until) FROM webhooks o WHERE o.user_id = w.user_id
                   AND o.turn_until < at + interval '15 minutes') AS served_at
          FROM due JOIN webhooks w ON w.id = due.webhook_id
         WHERE w.disabled_at IS NULL AND coalesce(w.paused_until <= at, true)
         ORDER BY w.user_id, w.turn_until NULLS FIRST, w.id),
    next AS (
        SELECT f.id FROM first f WHERE coalesce(f.served_at <= at, true)
         ORDER BY f.served_at NULLS FIRST, f.id LIMIT most)
    UPDATE webhooks w SET turn_until = clock_timestamp() + make_interval(secs => seconds)
     WHERE w.id IN (SELECT n.id FROM next n) RETURNING w.id;
END $$;

-- Find the oldest delivery of a webhook that is due, with what a turn needs of the webhook and of its job.
-- Returns: one row, or none if nothing is due or the webhook rests.  old_secret: NULL once it has ended.
-- request_id, traceparent: of the request with which the job was accepted; is_payers: whether that was the owner's.
-- Locks: nothing.
CREATE OR REPLACE FUNCTION webhook_next(webhook uuid) RETURNS TABLE (
    id bigint, webhook_id uuid, message_id uuid, job_id uuid, type text, happened_at timestamptz, body text,
    attempts integer, due_at timestamptz, url text, failures integer, secret bytea, old_secret bytea, user_id uuid,
    request_id text, traceparent text, is_payers boolean)
LANGUAGE plpgsql STABLE ROWS 1
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    at CONSTANT timestamptz := clock_timestamp();
BEGIN
    RETURN QUERY
    SELECT d.id, d.webhook_id, d.message_id, d.job_id, d.type, d.happened_at, d.body, d.attempts, d.due_at, w.url,
           w.failures, w.secret, CASE WHEN w.old_secret_until > at THEN w.old_secret END, w.user_id,
           a.facts->>'request_id', a.facts->>'traceparent',
           EXISTS (SELECT FROM analysis_requests r
                    WHERE r.job_id = d.job_id AND r.user_id = w.user_id AND r.role = 'payer')
      FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
      LEFT JOIN LATERAL (SELECT e.facts FROM job_events e
                          WHERE e.job_id = d.job_id AND e.event = 'accepted' ORDER BY e.id LIMIT 1) AS a ON true
     WHERE d.webhook_id = webhook AND d.due_at <= at AND w.disabled_at IS NULL
       AND coalesce(w.paused_until <= at, true)
     ORDER BY d.due_at, d.id LIMIT 1;
END $$;

-- Read a page of a webhook's log, newest first: deliveries of events since an instant.
-- before_id: the last id of the previous page, or NULL.  Nothing happens later than tomorrow, so parts of months to come
-- are not read.  Without sorting there is one way, to follow the index of the log; a plan for the average webhook would
-- read all of a log and sort it, which took 3 times as long for 200 deliveries.
-- Returns: at most `most`.  Locks: nothing.
CREATE OR REPLACE FUNCTION webhook_log(webhook uuid, since timestamptz, before_id bigint, most integer)
RETURNS TABLE (
    id bigint, webhook_id uuid, message_id uuid, job_id uuid, type text, happened_at timestamptz, body text,
    status text, attempts integer, due_at timestamptz, attempted_at timestamptz, status_code integer,
    latency_ms integer, answer text, fault text)
LANGUAGE plpgsql STABLE ROWS 25
SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    tomorrow CONSTANT timestamptz := clock_timestamp() + interval '1 day';
BEGIN
    RETURN QUERY
    SELECT d.id, d.webhook_id, d.message_id, d.job_id, d.type, d.happened_at, d.body, d.status, d.attempts, d.due_at,
           d.attempted_at, d.status_code, d.latency_ms, d.answer, d.fault
      FROM webhook_deliveries d
     WHERE d.webhook_id = webhook AND d.happened_at >= since AND d.happened_at < tomorrow AND d.id < coalesce(before_id, 9223372036854775807)
     ORDER BY d.id DESC LIMIT most;
END $$;

-- Count the deliveries of all webhooks that are to be sent, now or later, and say for how long an account has waited for a
-- turn: the turn of any of its webhooks counts, and a webhook that rests waits for nobody.
-- most: how many are looked at.  Returns: one row; the most seconds of any account, or 0.  Locks: nothing.
CREATE OR REPLACE FUNCTION webhooks_waiting(most integer, OUT deliveries bigint, OUT seconds double precision)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    at CONSTANT timestamptz := clock_timestamp();
BEGIN
    WITH waiting AS MATERIALIZED (
        SELECT d.webhook_id, d.due_at FROM webhook_deliveries d WHERE d.due_at IS NOT NULL LIMIT most),
    due AS (SELECT g.webhook_id, min(g.due_at) AS due_at FROM waiting g GROUP BY g.webhook_id),
    since AS (
        SELECT greatest(due.due_at, w.paused_until,
                        (SELECT max(o.turn_until) FROM webhooks o
                          WHERE o.user_id = w.user_id AND o.turn_until < at + interval '15 minutes')) AS since
          FROM due JOIN webhooks w ON w.id = due.webhook_id WHERE w.disabled_at IS NULL)
    SELECT (SELECT count(*) FROM waiting), coalesce(greatest(0, extract(epoch FROM at - min(s.since))), 0)
      INTO deliveries, seconds FROM since s;
END $$;

-- Find the parts of a table that is partitioned by ranges of time.  Returns: each with its range, which begins at
-- -infinity if it has everything before its end; a default part has none.  Locks: nothing.
CREATE OR REPLACE FUNCTION partition_bounds(parent regclass, OUT part regclass, OUT begins timestamptz, OUT ends timestamptz)
RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
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
-- the rights of its owner, since the application may make and drop nothing else; so it keeps no table of a caller's,
-- beside which there could be functions of the caller's.
-- Returns: the parts that were made, those that were dropped, and about how many rows these had.
-- Locks: the parts that it drops, the table and webhooks against everybody, for a moment; if a part is made, the default
-- part and writers of webhooks.  It waits for each half a second at most, less than a deadlock takes to be found.
CREATE OR REPLACE FUNCTION webhook_deliveries_months(
    parent regclass, at timestamptz, before timestamptz, OUT made text[], OUT dropped text[], OUT rows bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '500ms' AS $$
DECLARE
    place CONSTANT text := (SELECT quote_ident(nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
                             WHERE c.oid = parent AND relname = 'webhook_deliveries' AND relpersistence <> 't'
                               AND pg_has_role(relowner, 'USAGE'));
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
