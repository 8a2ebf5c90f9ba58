-- Limits of how often messages start: whether one may now, or has to wait in a line (lines.sql).
--
-- A claim is a start.  Each limit is a clock (GCRA): `next_at` moves on by `seconds` with each start, and a message may
-- start while it is less than burst - 1 of them ahead.  A clock that stood still is at most 0.1 s, and one start, behind:
-- so a start that comes a little late costs no rate, and in T seconds there are at most T / seconds + burst + 1 of them.
-- It is never further ahead than `burst` starts: what a slower rate or a larger burst has left there counts no longer.
--
-- A message over a limit leaves the ready ones for the limit's line, where it costs nothing and nobody passes it.  A line
-- is in the fair order: a tenant's message is ranked behind its tenant's last one there, or else with the head.  When its
-- time has come, a line wakes as many as may start.  While some of these wait for the turns of their tenants it wakes one
-- more each time, as many as fall due in 0.2 s: whether one may start is decided at its claim, and only there.
--
-- A message waits for one limit at a time, and is barred
--   fresh: by a limit whose line has somebody waiting, or has woken as many as may start;
--   woken by a line: by a limit that lets nobody start now, by another line in which an older one of its tenant waits, and
--   by a faster limit that keeps its starts for others whom its own line has woken, but for younger ones of its tenant.
-- So of the fastest line that has woken somebody a tenant's oldest one waits for nothing but the time, which passes whatever
-- others do: no messages wait for each other.  Were a woken one barred by all who wait, two lines that cross would send
-- their messages to each other and start none.  Did it pass those whom a faster line has woken, a tenant with a limit of
-- its own would be served before those without.
--
-- Who is barred gives back all that it got: who was woken and is barred elsewhere keeps nobody from being woken in its
-- place, after a hundredth of a second, or after `seconds` (2 s at most) where a faster line keeps its starts for others:
-- so no line pours all it has into another one.  A fresh one goes to the line of the slowest limit that bars it,
-- which is known of hundreds at once (durable_line_fill).  A woken one goes where the next start comes last: in front, if
-- that line has woken it, and else behind its tenant's last one there, whose turns it takes in the order of their age.
--
-- Nobody waits for a lock here.  A line belongs to the transaction that has its advisory lock; what finds it taken leaves
-- the message ready, and comes back soon.  Those without settings have their caller's.
--
-- Locks of each, until the end of a claim or a poll: the lines that it meets, if they are free, and the rows it changes.

-- -> whether the line is ours from now on.  Two lines with one hash are one.
CREATE OR REPLACE FUNCTION durable_line_lock(limit_id integer, of_tenant text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN pg_try_advisory_xact_lock(hashtext('{channel} line'), hashtext(limit_id || ' ' || of_tenant));
END $$;

-- -> the seconds between two starts of a rate, in whole microseconds, so that no start comes sooner than they say.
CREATE OR REPLACE FUNCTION durable_seconds(rate text) RETURNS double precision LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    said CONSTANT text[] := regexp_match(
        lower(rate), '^\s*\+?([0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+)\s*(?:/\s*([smh]))?\s*$');
    pause numeric;
BEGIN
    IF said[1]::numeric > 0 THEN
        pause := CASE said[2] WHEN 'm' THEN 60 WHEN 'h' THEN 3600 ELSE 1 END / said[1]::numeric;
    END IF;
    IF pause IS NULL THEN
        RAISE EXCEPTION 'a rate is 10/s, 100/m, 5/h or a number of starts per second, and more than 0, not %',
                        coalesce(left(rate, 100), 'NULL')
              USING errcode = 'invalid_parameter_value';
    ELSIF pause NOT BETWEEN 0.0001 AND 31536000 THEN
        RAISE EXCEPTION 'a rate is at most 10000 a second and at least one a year, not %', left(rate, 100)
              USING errcode = 'invalid_parameter_value';
    END IF;
    RETURN ceil(pause * 1000000) / 1000000;
END $$;

-- -> the name of the task in a payload of kombu's; NULL: none, or it cannot be read.
CREATE OR REPLACE FUNCTION durable_task(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN body::json #>> '{headers,task}';
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END $$;

-- -> a line, which the caller has locked; one that has no row is new.
CREATE OR REPLACE FUNCTION durable_line_of(rule durable_limit, of_tenant text) RETURNS durable_line
LANGUAGE plpgsql AS $$
DECLARE
    mine durable_line;
BEGIN
    SELECT * INTO mine FROM durable_line AS l WHERE l.limit_id = rule.id AND l.tenant = of_tenant
     ORDER BY l.next_at DESC LIMIT 1;
    IF NOT FOUND THEN
        mine := (nextval('message_id_sequence'), rule.queue_id, rule.id, of_tenant, '-infinity', '{}', NULL,
                 -9223372036854775808);
    END IF;
    RETURN mine;
END $$;

-- -> where the clock of a line stands: see above.
CREATE OR REPLACE FUNCTION durable_line_stands(rule durable_limit, mine durable_line, clock timestamptz)
RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN least(greatest(mine.next_at, clock - make_interval(secs => least(rule.seconds, 0.1))),
                 clock + make_interval(secs => rule.burst * rule.seconds));
END $$;

-- -> how many may start now.
CREATE OR REPLACE FUNCTION durable_line_free(rule durable_limit, mine durable_line, clock timestamptz) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN greatest(0, rule.burst + floor(
        extract(epoch FROM clock - durable_line_stands(rule, mine, clock))::float8 / rule.seconds + 0.000001));
END $$;

-- -> how many more than may start can be woken: what falls due in 0.2 s.
CREATE OR REPLACE FUNCTION durable_line_ahead(rule durable_limit) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN least(64, floor(0.2 / rule.seconds));
END $$;

-- -> when the next one is woken: when one more may start than those that are woken; or sooner, nine tenths of `seconds`
-- after the last one, as some are woken that wait for their tenants' turns.  When there are enough, the next look at what
-- became of them.
CREATE OR REPLACE FUNCTION durable_line_due(
    rule durable_limit, mine durable_line, clock timestamptz, last timestamptz DEFAULT NULL
) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    woken CONSTANT integer := cardinality(mine.woken);
    ahead CONSTANT integer := CASE WHEN rule.seconds > 0 THEN durable_line_ahead(rule) END;
BEGIN
    IF ahead IS NULL THEN                    -- the limit is gone
        RETURN clock;
    ELSIF woken >= rule.burst + ahead THEN
        RETURN clock + interval '2 s';
    END IF;
    RETURN greatest(clock, least(
        durable_line_stands(rule, mine, clock) + make_interval(secs => (woken + 1 - rule.burst) * rule.seconds),
        CASE WHEN woken > 0 AND ahead > 0 THEN coalesce(last, clock) + make_interval(secs => 0.9 * rule.seconds) END));
END $$;

-- -> those of the woken that are ready still.  The others have ended, or wait for something.  `idle`: leave out those
-- that somebody holds too.
CREATE OR REPLACE FUNCTION durable_line_woken(mine durable_line, idle boolean DEFAULT false) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
    IF idle THEN
        RETURN ARRAY(SELECT r.id FROM durable_ready AS r
                      WHERE r.id = ANY (mine.woken) AND r.queue_id = mine.queue_id FOR UPDATE SKIP LOCKED);
    END IF;
    RETURN ARRAY(SELECT u.id FROM unnest(mine.woken) AS u (id)
                  WHERE EXISTS (SELECT FROM durable_ready AS r WHERE r.id = u.id AND r.queue_id = mine.queue_id));
END $$;

-- Write a line, whose row was last written with `before`, if it has one: while nobody waited it may have been taken away.
CREATE OR REPLACE FUNCTION durable_line_write(mine durable_line, before timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE durable_line AS l SET next_at = mine.next_at, woken = mine.woken, wake_at = mine.wake_at, rank = mine.rank
     WHERE l.limit_id = mine.limit_id AND l.tenant = mine.tenant AND l.next_at = before;
    IF NOT FOUND THEN
        INSERT INTO durable_line SELECT (mine).*;
    END IF;
END $$;

-- Let a ready message start, which the caller has locked, or put it in a line, see above.  `place`: the rank of its turn.
-- What is to be cancelled starts in any case.
-- `busy`: lines that somebody else has; they are not tried again in a claim, so that nobody passes who was left there.
-- -> `starts_at`: when it starts, which is now; infinity: it waits, and is no longer ready; NULL: one of its lines is busy,
-- and nothing has happened; -infinity: so it is with all of the queue.  `barred_by`: the limit whose line it is in.
CREATE OR REPLACE FUNCTION durable_admit(
    which integer, message bigint, of_tenant text, place bigint, urgency smallint, IN OUT busy text[] DEFAULT '{}',
    OUT starts_at timestamptz, OUT barred_by integer
) LANGUAGE plpgsql AS $$
DECLARE
    its record;
    named text;
    whose text;
    clock timestamptz;
    later timestamptz;
    latest timestamptz;
    rule durable_limit;
    rules durable_limit[] := '{}';
    mine durable_line;
    before durable_line[] := '{}';
    after durable_line[] := '{}';
    woken_by integer;
    was_woken boolean;
    free integer;
    barred integer;
    is_kept boolean;
    is_busy boolean;
BEGIN
    SELECT payload, step, cancel_requested_at, retry_count + snooze_count > 0 AS is_again INTO its
      FROM durable_message WHERE id = message;
    IF its.cancel_requested_at IS NOT NULL THEN
        starts_at := clock_timestamp();
        RETURN;
    END IF;
    FOR rule IN SELECT * FROM durable_limit AS l
                 WHERE l.queue_id = which AND l.seconds > 0 AND (l.tenant IS NULL OR l.tenant = of_tenant)
                 ORDER BY l.seconds DESC, l.id LOOP
        IF rule.task IS NOT NULL THEN
            named := coalesce(named, durable_task(its.payload), '');
            CONTINUE WHEN rule.task <> named;
        END IF;
        whose := CASE WHEN rule.per_tenant THEN of_tenant ELSE '' END;
        is_busy := concat(rule.id, ' ', whose) = ANY (busy);
        IF is_busy OR NOT durable_line_lock(rule.id, whose) THEN
            busy := CASE WHEN is_busy THEN busy ELSE busy || concat(rule.id, ' ', whose) END;
            starts_at := CASE WHEN coalesce(rule.task, rule.tenant) IS NULL AND NOT rule.per_tenant THEN '-infinity' END;
            RETURN;
        END IF;
        mine := durable_line_of(rule, whose);
        rules := rules || rule;
        before := before || mine;
        IF message = ANY (mine.woken) THEN
            woken_by := cardinality(rules);
        END IF;
    END LOOP;
    clock := clock_timestamp();
    FOR n IN 1..cardinality(rules) LOOP
        rule := rules[n];
        mine := before[n];
        mine.next_at := least(mine.next_at, clock + make_interval(secs => rule.burst * rule.seconds));
        free := durable_line_free(rule, mine, clock);
        IF mine.woken <> '{}' AND woken_by IS NULL THEN
            mine.woken := durable_line_woken(mine);
        END IF;
        IF woken_by IS NULL THEN
            IF barred IS NULL AND (mine.wake_at IS NOT NULL OR free <= cardinality(mine.woken)) THEN
                barred := n;                 -- the slowest comes first
            END IF;
        ELSIF free <= (CASE WHEN woken_by < n THEN (
                           SELECT count(*) FROM durable_ready AS r
                            WHERE r.id = ANY (mine.woken) AND (r.tenant <> of_tenant OR r.id < message)) ELSE 0 END)
              OR woken_by <> n AND mine.wake_at IS NOT NULL AND (
                           SELECT w.id < message AND coalesce(w.priority, 0) >= urgency FROM durable_waiting AS w
                            WHERE w.line = mine.id AND w.tenant = of_tenant AND w.rank >= mine.rank
                            ORDER BY w.rank LIMIT 1) THEN
            later := durable_line_stands(rule, mine, clock) + make_interval(secs => (1 - rule.burst) * rule.seconds);
            IF barred IS NULL OR later > latest THEN
                barred := n;
                latest := later;
                is_kept := free > 0;
            END IF;
        END IF;
        after := after || mine;
    END LOOP;
    FOR n IN 1..cardinality(rules) LOOP
        rule := rules[n];
        mine := after[n];
        was_woken := message = ANY (mine.woken);
        mine.woken := array_remove(mine.woken, message);
        IF n = barred THEN
            PERFORM durable_line_join(
                mine, message, of_tenant, its.step, place,
                CASE WHEN its.is_again THEN nullif(urgency, 0) ELSE urgency END, was_woken);
        ELSIF barred IS NULL THEN
            mine.next_at := durable_line_stands(rule, mine, clock) + make_interval(secs => rule.seconds);
        END IF;
        IF was_woken AND barred <> n AND mine.wake_at IS NOT NULL THEN
            mine.wake_at := clock + make_interval(secs => CASE WHEN is_kept THEN least(rule.seconds, 2)
                                                               ELSE least(rule.seconds, 0.1) / 10 END);
        ELSIF n = barred AND (was_woken OR mine.wake_at IS NULL) OR barred IS NULL AND mine.wake_at IS NOT NULL THEN
            mine.wake_at := least(CASE WHEN mine.woken <> '{}' THEN mine.wake_at END, durable_line_due(rule, mine, clock));
        END IF;
        IF mine IS DISTINCT FROM before[n] THEN
            PERFORM durable_line_write(mine, before[n].next_at);
        END IF;
    END LOOP;
    starts_at := CASE WHEN barred IS NULL THEN clock ELSE 'infinity' END;
    barred_by := rules[barred].id;
END $$;

-- Put a ready message in a line: behind its tenant's last one, or, as it was woken there, in front of all.  As it has a
-- priority there, if only 0, it takes a turn of its tenant before the younger ones, which take its own later; see
-- priority.sql.  It may be older than they are: it came from another line, or from a worker, or was not moved with them.
-- What is tried again has none, or one that is retried at once would take all turns of its tenant.
CREATE OR REPLACE FUNCTION durable_line_join(
    mine durable_line, message bigint, of_tenant text, step integer, place bigint, urgency smallint, first boolean
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found bigint;
BEGIN
    IF NOT first THEN
        SELECT w.rank + step INTO found FROM durable_waiting AS w
         WHERE w.line = mine.id AND (w.tenant, w.rank) >= (of_tenant, mine.rank) AND w.tenant <= of_tenant
         ORDER BY w.tenant DESC, w.rank DESC LIMIT 1;
    END IF;
    IF found IS NULL THEN
        SELECT w.rank INTO found FROM durable_waiting AS w
         WHERE w.line = mine.id AND w.rank >= mine.rank ORDER BY w.rank, w.id LIMIT 1;
    END IF;
    DELETE FROM durable_ready WHERE id = message;
    INSERT INTO durable_waiting AS w (id, queue_id, tenant, reason, priority, line, rank)
    VALUES (message, mine.queue_id, of_tenant, 'limited', urgency, mine.id,
            coalesce(found, greatest(mine.rank, place)))
        ON CONFLICT DO NOTHING;
END $$;
