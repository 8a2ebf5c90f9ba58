-- Limits of how often messages start: whether one may now, or has to wait in a line (lines.sql).
--
-- A claim is a start.  Each limit is a clock (GCRA): `next_at` moves on by `seconds` with each start, and a message may
-- start while it is less than burst - 1 of them ahead.  A clock that stood still is at most 0.1 s, and one start, behind:
-- so a start that comes a little late costs no rate, and in T seconds there are at most T / seconds + burst + 1 of them.
--
-- A message over a limit leaves the ready ones for the limit's line, where it costs nothing and nobody passes it.  A line
-- is in the fair order: a tenant's message is ranked behind its tenant's last one there, or else with the head.  When its
-- time has come, a line wakes as many as may start, and no more before these have started, however long that takes.  Who
-- is woken takes the next turn of its tenant.  It waits for one limit at a time, in the order of their ids, and what it
-- got at one it keeps while it waits at a later one, never the other way round: so no two wait for each other.
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
    said CONSTANT text[] := regexp_match(rate, '^\s*(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s*(?:/\s*([smh]))?\s*$');
    pause numeric;
BEGIN
    IF said[1]::numeric > 0 THEN
        pause := CASE said[2] WHEN 'm' THEN 60 WHEN 'h' THEN 3600 ELSE 1 END / said[1]::numeric;
    END IF;
    IF pause IS NULL THEN
        RAISE EXCEPTION 'a rate is 10/s, 100/m, 5/h or a number of starts per second, and more than 0, not %', rate
              USING errcode = 'invalid_parameter_value';
    ELSIF pause NOT BETWEEN 0.0001 AND 31536000 THEN
        RAISE EXCEPTION 'a rate is at most 10000 a second and at least one a year, not %', rate
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

-- -> how many may start now.
CREATE OR REPLACE FUNCTION durable_line_free(rule durable_limit, mine durable_line, clock timestamptz) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    stands timestamptz := greatest(mine.next_at, clock - make_interval(secs => least(rule.seconds, 0.1)));
BEGIN
    RETURN greatest(0, rule.burst + floor(extract(epoch FROM clock - stands)::float8 / rule.seconds + 0.000001));
END $$;

-- -> when one more may start than those that are woken; if no more may before these have started, the next look at what
-- became of them.
CREATE OR REPLACE FUNCTION durable_line_due(rule durable_limit, mine durable_line, clock timestamptz) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    woken CONSTANT integer := cardinality(mine.woken);
BEGIN
    IF rule.id IS NULL OR rule.seconds = 0 THEN
        RETURN clock;
    ELSIF woken >= rule.burst + (rule.seconds <= 0.1)::integer THEN
        RETURN clock + interval '2 s';
    END IF;
    RETURN greatest(clock, mine.next_at + make_interval(secs => (woken + 1 - rule.burst) * rule.seconds));
END $$;

-- -> those of the woken that may start still: ready, or waiting at another limit.  The others have ended, or wait for
-- something else.
CREATE OR REPLACE FUNCTION durable_line_woken(mine durable_line) RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        SELECT u.id FROM unnest(mine.woken) AS u (id)
         WHERE EXISTS (SELECT FROM durable_ready AS r WHERE r.id = u.id AND r.queue_id = mine.queue_id)
            OR EXISTS (SELECT FROM durable_waiting AS w
                        WHERE w.id = u.id AND w.queue_id = mine.queue_id AND w.line <> mine.id));
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

-- Let a ready message start, which the caller has locked, or put it in a line.  `place`: the rank of its turn.  What is to
-- be cancelled starts in any case.  -> when it starts, which is now; infinity: it waits, and is no longer ready; NULL:
-- somebody else has one of its lines, and nothing has happened.
CREATE OR REPLACE FUNCTION durable_admit(which integer, message bigint, of_tenant text, place bigint, urgency smallint)
RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    its record;
    named text;
    whose text;
    clock timestamptz;
    rule durable_limit;
    rules durable_limit[] := '{}';
    mine durable_line;
    before durable_line[] := '{}';
    after durable_line[] := '{}';
    is_woken boolean;
    barred integer;
BEGIN
    SELECT payload, step, cancel_requested_at INTO its FROM durable_message WHERE id = message;
    IF its.cancel_requested_at IS NOT NULL THEN
        RETURN clock_timestamp();
    END IF;
    FOR rule IN SELECT * FROM durable_limit AS l
                 WHERE l.queue_id = which AND l.seconds > 0 AND (l.tenant IS NULL OR l.tenant = of_tenant)
                 ORDER BY l.id LOOP
        IF rule.task IS NOT NULL THEN
            named := coalesce(named, durable_task(its.payload), '');
            CONTINUE WHEN rule.task <> named;
        END IF;
        whose := CASE WHEN rule.per_tenant THEN of_tenant ELSE '' END;
        IF NOT durable_line_lock(rule.id, whose) THEN
            RETURN NULL;
        END IF;
        SELECT * INTO mine FROM durable_line AS l WHERE l.limit_id = rule.id AND l.tenant = whose
         ORDER BY l.next_at DESC LIMIT 1;
        IF NOT FOUND THEN
            mine := (nextval('message_id_sequence'), which, rule.id, whose, '-infinity', '{}', NULL, -9223372036854775808);
        END IF;
        rules := rules || rule;
        before := before || mine;
    END LOOP;
    clock := clock_timestamp();
    FOR n IN 1..cardinality(rules) LOOP
        rule := rules[n];
        mine := before[n];
        is_woken := message = ANY (mine.woken);
        IF is_woken THEN
            mine.woken := array_remove(mine.woken, message);
        ELSIF mine.woken <> '{}' THEN
            mine.woken := durable_line_woken(mine);
        END IF;
        IF barred IS NULL AND (
            NOT is_woken AND mine.wake_at IS NOT NULL
            OR durable_line_free(rule, mine, clock) <= CASE WHEN is_woken THEN 0 ELSE cardinality(mine.woken) END) THEN
            barred := n;
            PERFORM durable_line_join(mine, message, of_tenant, its.step, place, urgency, is_woken);
            IF is_woken OR mine.wake_at IS NULL THEN
                mine.wake_at := durable_line_due(rule, mine, clock);
            END IF;
        ELSIF barred IS NULL THEN
            mine.next_at := greatest(mine.next_at, clock - make_interval(secs => least(rule.seconds, 0.1)))
                            + make_interval(secs => rule.seconds);
            mine.wake_at := CASE WHEN mine.wake_at IS NOT NULL THEN durable_line_due(rule, mine, clock) END;
        ELSIF is_woken AND mine.wake_at IS NOT NULL THEN
            mine.wake_at := clock;           -- another one may go in its place
        END IF;
        after := after || mine;
    END LOOP;
    FOR n IN coalesce(barred, 1)..cardinality(rules) LOOP
        IF after[n] IS DISTINCT FROM before[n] THEN
            PERFORM durable_line_write(after[n], before[n].next_at);
        END IF;
    END LOOP;
    RETURN CASE WHEN barred IS NULL THEN clock ELSE 'infinity' END;
END $$;

-- Put a ready message at the end of its tenant in a line; `first`: in front of all, as it was woken.
CREATE OR REPLACE FUNCTION durable_line_join(
    mine durable_line, message bigint, of_tenant text, step integer, place bigint, urgency smallint, first boolean
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    IF NOT first THEN
        SELECT w.rank + step INTO last FROM durable_waiting AS w
         WHERE w.line = mine.id AND (w.tenant, w.rank) >= (of_tenant, mine.rank) AND w.tenant <= of_tenant
         ORDER BY w.tenant DESC, w.rank DESC LIMIT 1;
    END IF;
    IF last IS NULL THEN
        SELECT w.rank INTO last FROM durable_waiting AS w
         WHERE w.line = mine.id AND w.rank >= mine.rank ORDER BY w.rank, w.id LIMIT 1;
    END IF;
    DELETE FROM durable_ready WHERE id = message;
    INSERT INTO durable_waiting AS w (id, queue_id, tenant, reason, priority, line, rank)
    VALUES (message, mine.queue_id, of_tenant, 'limited', nullif(urgency, 0), mine.id,
            coalesce(last, greatest(mine.rank, place)))
        ON CONFLICT DO NOTHING;
END $$;
