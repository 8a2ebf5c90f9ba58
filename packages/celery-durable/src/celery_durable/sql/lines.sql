-- The lines of limits (limits.sql): who is woken when, and the claims of a queue that has some.
--
-- Locks of each: as there; of a wake, the messages and where they stand, skipping locked ones.

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
    since CONSTANT timestamptz := CASE WHEN from_rank = 0 THEN '-infinity'
                                       ELSE clock_timestamp() - interval '10 s' END;
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
