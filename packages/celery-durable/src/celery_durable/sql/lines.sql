-- The lines of limits (limits.sql): who is woken when, and the claims of a queue that has some.
--
-- Locks of each: as there; of a wake, the messages and where they stand, skipping locked ones.

-- Wake as many of a line as may start, and more while some of these wait for the turn of their tenants: its turns in
-- their order, each filled with the tenant's best message, by priority and then by age (as priority.sql does it).  Of a
-- limit that is gone, some hundreds.  Where as many are woken as can be, nothing has come of them for 2 s: what somebody
-- holds keeps its turn, and gives its start back.  -> the messages.
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
    times double precision;
    last timestamptz;
    before CONSTANT timestamptz := mine.next_at;
BEGIN
    SELECT * INTO rule FROM durable_limit AS l WHERE l.id = mine.limit_id;
    is_over := NOT FOUND OR rule.seconds = 0;
    IF NOT is_over THEN
        mine.next_at := least(mine.next_at, clock + make_interval(secs => rule.burst * rule.seconds));
        mine.woken := durable_line_woken(mine);
        IF cardinality(mine.woken) >= rule.burst + durable_line_ahead(rule) THEN
            mine.woken := durable_line_woken(mine, true);
        END IF;
        most := durable_line_free(rule, mine, clock) - cardinality(mine.woken);
        IF mine.woken <> '{}' THEN
            times := 1 + floor(extract(epoch FROM clock - mine.wake_at) / (0.9 * rule.seconds));
            last := mine.wake_at + make_interval(secs => (times - 1) * 0.9 * rule.seconds);
            most := least(most + durable_line_ahead(rule), greatest(most, times));
        END IF;
        most := least(64, most);
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
         WHERE l.limit_id = mine.limit_id AND l.tenant = mine.tenant AND l.next_at = before;
        RETURN woken;
    END IF;
    mine.rank := coalesce(place, mine.rank);
    mine.woken := CASE WHEN is_over THEN '{}' ELSE mine.woken || woken END;
    mine.wake_at := CASE WHEN place IS NULL THEN NULL
                         WHEN cardinality(woken) < most THEN clock + interval '0.05 s'  -- somebody has locked them
                         ELSE durable_line_due(rule, mine, clock, last) END;
    PERFORM durable_line_write(mine, before);
    RETURN woken;
END $$;

-- Put in a line what else of the ready ones it bars, as it has somebody waiting: of some hundreds from a rank on, and none
-- that a slower limit may bar, that was woken, or whose payload takes long to read.  The caller has the line.  -> how many.
CREATE OR REPLACE FUNCTION durable_line_fill(which integer, of_limit integer, of_tenant text, from_rank bigint)
RETURNS integer LANGUAGE plpgsql {by_key} AS $$
DECLARE
    rule CONSTANT durable_limit := (SELECT l FROM durable_limit AS l WHERE l.id = of_limit);
    mine CONSTANT durable_line := durable_line_of(rule, CASE WHEN rule.per_tenant THEN of_tenant ELSE '' END);
    slower CONSTANT durable_limit[] := ARRAY(
        SELECT l FROM durable_limit AS l
         WHERE l.queue_id = which AND (l.seconds, -l.id) > (rule.seconds, -rule.id));
    by_task CONSTANT boolean := rule.task IS NOT NULL
                             OR EXISTS (SELECT FROM unnest(slower) AS l WHERE l.task IS NOT NULL);
    head bigint;
    found tid[];
    moved integer;
BEGIN
    IF rule.per_tenant OR rule.tenant IS NOT NULL THEN
        found := ARRAY(SELECT r.ctid FROM durable_ready AS r
                        WHERE r.queue_id = which AND r.tenant = of_tenant AND r.rank >= from_rank
                          AND r.own_rank IS DISTINCT FROM 0
                        ORDER BY r.rank, r.id LIMIT {batch} FOR UPDATE SKIP LOCKED);
    ELSE
        found := ARRAY(SELECT r.ctid FROM durable_ready AS r
                        WHERE r.queue_id = which AND r.rank >= from_rank AND r.own_rank IS DISTINCT FROM 0
                        ORDER BY r.rank, r.id LIMIT {batch} FOR UPDATE SKIP LOCKED);
    END IF;
    SELECT w.rank INTO head FROM durable_waiting AS w
     WHERE w.line = mine.id AND w.rank >= mine.rank ORDER BY w.rank, w.id LIMIT 1;
    WITH barred AS MATERIALIZED (
        SELECT r.id, r.ctid AS place, r.tenant, r.priority, coalesce(r.own_rank, r.rank) AS rank, m.step
          FROM durable_ready AS r
         CROSS JOIN LATERAL (SELECT d.step, CASE WHEN by_task THEN coalesce(durable_task(d.payload), '') END AS named
                               FROM durable_message AS d
                              WHERE d.id = r.id AND d.cancel_requested_at IS NULL
                                AND (NOT by_task OR octet_length(d.payload) < 10000) OFFSET 0) AS m
         WHERE r.ctid = ANY (found) AND (rule.task IS NULL OR m.named = rule.task)
           AND NOT EXISTS (SELECT FROM unnest(slower) AS l
                            WHERE (l.task IS NULL OR l.task = m.named) AND (l.tenant IS NULL OR l.tenant = r.tenant))),
    lasts AS MATERIALIZED (
        SELECT b.tenant, (SELECT w.rank FROM durable_waiting AS w
                           WHERE w.line = mine.id AND (w.tenant, w.rank) >= (b.tenant, mine.rank) AND w.tenant <= b.tenant
                           ORDER BY w.tenant DESC, w.rank DESC LIMIT 1) AS rank
          FROM (SELECT DISTINCT tenant FROM barred) AS b),
    gone AS (DELETE FROM durable_ready WHERE ctid = ANY (ARRAY(SELECT place FROM barred)))
    INSERT INTO durable_waiting (id, queue_id, tenant, reason, priority, line, rank)
    SELECT b.id, which, b.tenant, 'limited', nullif(b.priority, 0), mine.id,
           coalesce(l.rank, head - first_value(b.step) OVER turns) + sum(b.step) OVER turns
      FROM barred AS b JOIN lasts AS l ON l.tenant = b.tenant
    WINDOW turns AS (PARTITION BY b.tenant ORDER BY b.rank, b.id)
        ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS moved = ROW_COUNT;
    RETURN moved;
END $$;

-- Wake the lines whose time has come: after `since`, as an old transaction keeps the entries of each wake.
-- -> the messages; `is_busy`: somebody else has one of the lines.  An error: not in READ COMMITTED.
CREATE OR REPLACE FUNCTION durable_wake_lines(
    which integer, since timestamptz, most integer, OUT messages bigint[], OUT is_busy boolean
) LANGUAGE plpgsql AS $$
DECLARE
    due record;
    mine durable_line;
    had integer := 0;
BEGIN
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        RAISE EXCEPTION 'a queue with limits is read in a READ COMMITTED transaction'
              USING errcode = 'object_not_in_prerequisite_state',
                    detail = 'Another one would not see what its limits have let start since it began.';
    END IF;
    messages := '{}';
    is_busy := false;
    FOR due IN SELECT l.limit_id, l.tenant FROM durable_line AS l
                WHERE l.queue_id = which AND l.wake_at > since AND l.wake_at <= clock_timestamp()
                ORDER BY l.wake_at LIMIT 100 LOOP
        EXIT WHEN had >= most;
        IF NOT durable_line_lock(due.limit_id, due.tenant) THEN
            is_busy := true;                 -- it keeps no other one from being woken
            CONTINUE;
        END IF;
        had := had + 1;
        SELECT * INTO mine FROM durable_line AS l WHERE l.limit_id = due.limit_id AND l.tenant = due.tenant
         ORDER BY l.next_at DESC LIMIT 1;    -- the row of before may have been taken away, and another one made
        IF mine.wake_at <= clock_timestamp() THEN
            messages := messages || durable_line_wake(mine);
        END IF;
    END LOOP;
END $$;

-- As durable_claim, of a queue with limits.  The last row has in `place` the microseconds until this node should claim
-- again: when the next of a line may start, told to who has just started some or put some in a line, so that not all
-- nodes come; at once, if there was more to put in lines than one claim does; soon, if somebody else had a line: -1 if
-- this node has started nothing then.
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
    called := durable_wake_lines(which, since, 10);
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
        IF EXISTS (SELECT FROM unnest(called.messages) AS c (id)
                    WHERE (SELECT true FROM durable_ready AS r WHERE r.id = c.id)) THEN
            PERFORM pg_notify('{channel}', queue_name);
        END IF;
    END IF;
    again := CASE WHEN denied >= {most_denied} AND EXISTS (
                      SELECT FROM durable_ready AS r WHERE r.queue_id = which AND r.rank >= from_rank) THEN 0
                  WHEN passed > 0 OR called.is_busy THEN CASE WHEN got > 0 THEN 3000 ELSE -1 END ELSE (
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

-- Keep the limits of a queue, now and then: the lines of one that was changed are looked at now, and those whose time
-- cannot be, as the server's clock was set back, or whose limit is gone; what is as if it had never started anything
-- goes; a limit that is removed goes with its lines, when no claim knows it any more.
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
        UPDATE durable_line SET wake_at = clock WHERE ctid = ANY (ARRAY(
            SELECT d.ctid FROM durable_line AS d LEFT JOIN durable_limit AS l ON l.id = d.limit_id
             WHERE d.queue_id = which AND d.wake_at > clock
               AND (l.id IS NULL OR d.wake_at > clock + interval '3 s'
                                AND d.wake_at > clock + make_interval(secs => 1 + (l.burst + 1) * l.seconds))
             LIMIT {batch} FOR UPDATE OF d SKIP LOCKED));
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
