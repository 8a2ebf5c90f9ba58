-- Limits of how often messages start: when one may, and the lines of those that may not yet.
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
         WHERE EXISTS (SELECT FROM durable_ready AS r WHERE r.id = u.id)
            OR EXISTS (SELECT FROM durable_waiting AS w WHERE w.id = u.id AND w.line <> mine.id));
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
-- be cancelled starts in any case.  -> 'starts'; 'waits', it is no longer ready; 'busy', nothing has happened.
CREATE OR REPLACE FUNCTION durable_admit(which integer, message bigint, of_tenant text, place bigint, urgency smallint)
RETURNS text LANGUAGE plpgsql AS $$
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
        RETURN 'starts';
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
            RETURN 'busy';
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
    RETURN CASE WHEN barred IS NULL THEN 'starts' ELSE 'waits' END;
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

-- Wake as many of a line as may start: its turns in their order, each filled with the tenant's best message, by priority
-- and then by age (as priority.sql does it).  Of a limit that is gone, some hundreds.  -> the messages.
CREATE OR REPLACE FUNCTION durable_line_wake(mine durable_line) RETURNS bigint[] LANGUAGE plpgsql {by_key} AS $$
DECLARE
    clock CONSTANT timestamptz := clock_timestamp();
    lowest CONSTANT bigint := (SELECT rank_floor FROM durable_queue WHERE id = mine.queue_id);
    rule durable_limit;
    is_over boolean;
    woken bigint[] := '{}';
    most integer := {batch};
    head record;
    best record;
    place bigint;
BEGIN
    SELECT * INTO rule FROM durable_limit AS l WHERE l.id = mine.limit_id;
    is_over := NOT FOUND OR rule.seconds = 0;
    IF NOT is_over THEN
        mine.woken := durable_line_woken(mine);
        most := least(64, durable_line_free(rule, mine, clock) - cardinality(mine.woken));
    END IF;
    WHILE cardinality(woken) < most LOOP
        SELECT w.id, w.tenant, w.rank, coalesce(w.priority, 0::smallint) AS priority, m.step INTO head
          FROM durable_waiting AS w JOIN durable_message AS m ON m.id = w.id
         WHERE w.line = mine.id AND w.rank >= mine.rank ORDER BY w.rank, w.id LIMIT 1
           FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF w SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        SELECT w.id, w.rank, w.priority, m.step INTO best
          FROM durable_waiting AS w JOIN durable_message AS m ON m.id = w.id
         WHERE w.line = mine.id AND w.tenant = head.tenant AND w.priority IS NOT NULL
         ORDER BY w.priority DESC, w.id LIMIT 1 FOR NO KEY UPDATE OF m SKIP LOCKED FOR UPDATE OF w SKIP LOCKED;
        IF best.id IS NULL OR (best.priority, -best.id) <= (head.priority, -head.id) THEN
            best := head;
        ELSE
            UPDATE durable_waiting SET rank = best.rank, priority = head.priority WHERE id = head.id;
        END IF;
        DELETE FROM durable_waiting WHERE id = best.id;
        INSERT INTO durable_ready (id, queue_id, tenant, rank, priority, own_rank)
        VALUES (best.id, mine.queue_id, head.tenant, durable_place(mine.queue_id, lowest, head.tenant, best.step),
                best.priority, 0)            -- before all others of its tenant with its priority
            ON CONFLICT DO NOTHING;
        woken := woken || best.id;
    END LOOP;
    SELECT w.rank INTO place FROM durable_waiting AS w
     WHERE w.line = mine.id AND w.rank >= mine.rank ORDER BY w.rank, w.id LIMIT 1;
    IF is_over AND place IS NULL THEN
        DELETE FROM durable_line AS l
         WHERE l.limit_id = mine.limit_id AND l.tenant = mine.tenant AND l.next_at = mine.next_at;
        RETURN woken;
    END IF;
    mine.rank := coalesce(place, mine.rank);
    mine.woken := CASE WHEN is_over THEN '{}' ELSE mine.woken || woken END;
    mine.wake_at := CASE WHEN place IS NULL THEN NULL
                         WHEN cardinality(woken) < most THEN clock + interval '0.05 s'  -- somebody has locked them
                         ELSE durable_line_due(rule, mine, clock) END;
    PERFORM durable_line_write(mine, mine.next_at);
    RETURN woken;
END $$;

-- Wake the lines whose time has come: after `since`, as an old transaction keeps the entries of each wake.
-- -> the messages; `is_busy`: somebody else has one of the lines.
CREATE OR REPLACE FUNCTION durable_wake_lines(
    which integer, since timestamptz, most integer, OUT messages bigint[], OUT is_busy boolean
) LANGUAGE plpgsql AS $$
DECLARE
    due record;
    mine durable_line;
BEGIN
    messages := '{}';
    is_busy := false;
    FOR due IN SELECT l.limit_id, l.tenant FROM durable_line AS l
                WHERE l.queue_id = which AND l.wake_at > since AND l.wake_at <= clock_timestamp()
                ORDER BY l.wake_at LIMIT most LOOP
        IF NOT durable_line_lock(due.limit_id, due.tenant) THEN
            is_busy := true;
            CONTINUE;
        END IF;
        SELECT * INTO mine FROM durable_line AS l WHERE l.limit_id = due.limit_id AND l.tenant = due.tenant
         ORDER BY l.next_at DESC LIMIT 1;
        IF mine.wake_at <= clock_timestamp() THEN
            messages := messages || durable_line_wake(mine);
        END IF;
    END LOOP;
END $$;

-- As durable_claim, of a queue with limits.  The last row has in `place` the microseconds until this node should claim
-- again: when the next of a line may start, told to who has just started some or put some in a line, so that not all
-- nodes come; at once, if there was more to put in lines than one claim does; soon, if somebody else had a line.
CREATE OR REPLACE FUNCTION durable_claim_limited(
    which integer, queue_name text, most integer, owner bigint, lease double precision, from_rank bigint, sleep integer
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql AS $$
DECLARE
    since CONSTANT timestamptz := clock_timestamp() - interval '10 s';
    called record;
    one record;
    got integer := 0;
    denied integer := 0;
    passed integer := 0;
    state integer := sleep;
    again bigint;
BEGIN
    called := durable_wake_lines(which, since, 100);
    LOOP
        FOR one IN SELECT * FROM durable_take_turns(which, most - got, owner, lease, from_rank, true) LOOP
            IF one.message_id IS NULL THEN
                denied := denied + one.deliveries;
                passed := passed + one.retries;
                CONTINUE;
            END IF;
            got := got + 1;
            message_id := one.message_id;
            token := one.token;
            body := one.body;
            deliveries := one.deliveries;
            retries := one.retries;
            snoozes := one.snoozes;
            losses := one.losses;
            place := one.place;
            RETURN NEXT;
        END LOOP;
        EXIT WHEN got = most OR passed > 0 OR called.is_busy OR denied >= {most_denied} OR owner IS NULL
               OR state = 2 OR state <> sleep;
        -- See durable_claim: it falls asleep, and looks once more.
        IF state IN (0, 3) AND NOT pg_try_advisory_lock_shared(hashtext('{channel} asleep'), which) THEN
            state := 3;
            EXIT;
        END IF;
        state := CASE WHEN pg_try_advisory_xact_lock(hashtext('{channel} publishing'), which) THEN 2 ELSE 1 END;
        EXIT WHEN state = sleep;
    END LOOP;
    IF got = most THEN
        IF state IN (1, 2) THEN
            PERFORM pg_advisory_unlock_shared(hashtext('{channel} asleep'), which);
        END IF;
        state := 0;
        IF EXISTS (SELECT FROM durable_ready AS r WHERE r.id = ANY (called.messages)) THEN
            PERFORM pg_notify('{channel}', queue_name);
        END IF;
    END IF;
    again := CASE WHEN denied + passed >= {most_denied} THEN 0 WHEN passed > 0 OR called.is_busy THEN 3000 ELSE (
        SELECT greatest(0, extract(epoch FROM l.wake_at - clock_timestamp()) * 1000000)::bigint FROM durable_line AS l
         WHERE l.queue_id = which AND l.wake_at > since
           AND (got + denied > 0 OR l.wake_at < clock_timestamp() + interval '0.02 s')
         ORDER BY l.wake_at LIMIT 1) END;
    IF state <> sleep OR again IS NOT NULL THEN
        message_id := NULL;
        deliveries := state;
        place := again;
        RETURN NEXT;
    END IF;
END $$;

-- Keep the limits of a queue, now and then: the lines of one that was changed are looked at now; what is as if it had
-- never started anything goes; a limit that is removed goes with its lines, when no claim knows it any more.
CREATE OR REPLACE FUNCTION durable_keep_limits(which integer, clock timestamptz, is_whole boolean) RETURNS void
LANGUAGE plpgsql {by_key} AS $$
DECLARE
    rule durable_limit;
BEGIN
    IF is_whole THEN
        DELETE FROM durable_line WHERE ctid = ANY (ARRAY(
            SELECT l.ctid FROM durable_line AS l
             WHERE l.queue_id = which AND l.wake_at IS NULL AND l.next_at < clock - interval '1 min'
             ORDER BY l.next_at LIMIT {batch} FOR UPDATE SKIP LOCKED));
    END IF;
    IF NOT EXISTS (SELECT FROM durable_limit WHERE queue_id = which AND changed_at IS NOT NULL)
       OR NOT pg_try_advisory_xact_lock(hashtext('{channel} limits'), which) THEN
        RETURN;
    END IF;
    FOR rule IN SELECT * FROM durable_limit AS l WHERE l.queue_id = which AND l.changed_at IS NOT NULL
                 ORDER BY l.id FOR NO KEY UPDATE SKIP LOCKED LOOP
        UPDATE durable_line SET wake_at = clock WHERE ctid = ANY (ARRAY(
            SELECT l.ctid FROM durable_line AS l WHERE l.limit_id = rule.id AND l.wake_at > clock
               FOR UPDATE SKIP LOCKED));
        IF rule.seconds > 0 THEN
            UPDATE durable_limit AS l SET changed_at = NULL
             WHERE l.id = rule.id
               AND NOT EXISTS (SELECT FROM durable_line AS d WHERE d.limit_id = rule.id AND d.wake_at > clock);
            CONTINUE;
        END IF;
        DELETE FROM durable_line WHERE ctid = ANY (ARRAY(
            SELECT l.ctid FROM durable_line AS l WHERE l.limit_id = rule.id AND l.wake_at IS NULL
               FOR UPDATE SKIP LOCKED));
        DELETE FROM durable_limit AS l
         WHERE l.id = rule.id AND l.changed_at < clock - interval '15 s'
           AND NOT EXISTS (SELECT FROM durable_line AS d WHERE d.limit_id = rule.id);
    END LOOP;
    PERFORM FROM durable_queue WHERE id = which FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND AND NOT EXISTS (SELECT FROM durable_limit WHERE queue_id = which) THEN
        UPDATE durable_queue SET has_limits = false WHERE id = which;
    END IF;
END $$;
