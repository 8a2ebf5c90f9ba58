-- As app/store/sql/webhooks.sql.
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
