-- Priorities inside of fairness.
--
-- A row of durable_ready is a turn of its tenant, and its rank is when that turn comes.  Who takes the turn fills it with
-- the best message of the tenant: the highest priority, of those the one that became ready first.  If that is not the
-- message of the turn, the two change places: the best one is leased with this rank, and the other one keeps its tenant's
-- later turn.  So after a claim the ranks of a queue are those that they would be without priorities, and no tenant gets
-- more turns, or sooner ones, by any priority.
--
-- A message that gave its turn away keeps in `own_rank` the rank that it came with, and is found by the index of priorities
-- from then on, with 0 if it has none: else a younger message of the tenant, whose turn comes sooner, would overtake it.
-- The order inside of one priority is that of these ranks, so what comes back or is due stands where it would stand without
-- priorities.
--
-- Messages of no tenant are as those of one.  Where none that is ready has a priority, a claim knows nothing of this.

-- As durable_take, one turn after the other.  Nobody is waited for: a best message that somebody else is claiming is passed
-- over, and so is a turn.  A turn that another claim has just given to a message is found with its new rank by a statement
-- whose snapshot has the old one; the next look sees both.  Who took a message before its turn came returns that turn's
-- rank, and of two with one rank the second one a higher `place`, by which the node sorts.  It has the settings of the
-- claim that calls it.
-- Behind a message that took its turn before its time each message of the tenant gives its turn away, and leaves a dead
-- entry in the index of priorities, which stays while some transaction of the server is old.  `passed` keeps them from
-- being read again for each turn: [priority, own_rank] of the last one by tenant; what is left of that priority is behind.
-- `limited`: each message has to be admitted (limits.sql).  One that is not leaves its turn to the next of its tenant; one
-- whose line somebody else has is passed over with its turn: some, or a thousand by a claim from the begin.  After some that one line has barred
-- the others that it bars follow in one statement.  Then the last row has no id, but in `deliveries` how many wait now,
-- and in `retries` how many were passed over.
-- Locks besides: the message of a turn that is filled with another one.
CREATE OR REPLACE FUNCTION durable_take_turns(
    which integer, most integer, owner bigint, lease double precision, from_rank bigint, limited boolean DEFAULT false
) RETURNS TABLE (message_id bigint, token text, body text, deliveries integer, retries integer, snoozes integer,
                 losses integer, place bigint)
LANGUAGE plpgsql AS $$
DECLARE
    head record;
    best record;
    last jsonb;
    passed jsonb := '{}';
    shown bigint := 0;
    got integer;
    from_id bigint := -9223372036854775808;
    denied integer := 0;
    skipped integer := 0;
    busy text[] := '{}';
    most_skipped CONSTANT integer := CASE WHEN from_rank = 0 THEN {most_passed} ELSE {most_denied} END;
    admitted record;
    starts_at timestamptz;
BEGIN
    WHILE most > 0 AND denied < {most_denied} AND skipped < most_skipped LOOP
        SELECT r.id, r.tenant, r.rank, coalesce(r.priority, 0::smallint) AS priority, coalesce(r.own_rank, r.rank) AS own_rank,
               (SELECT s.rank FROM durable_ready AS s WHERE s.id = r.id) AS seen_rank
          INTO head FROM durable_ready AS r
         WHERE r.queue_id = which AND (r.rank, r.id) >= (from_rank, from_id)
         ORDER BY r.rank, r.id LIMIT 1 FOR UPDATE OF r SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        CONTINUE WHEN head.rank IS DISTINCT FROM head.seen_rank;
        from_rank := head.rank;              -- no dead entry of the index is passed twice
        from_id := head.id;
        last := passed -> head.tenant;
        SELECT r.id, r.rank, r.priority, coalesce(r.own_rank, r.rank) AS own_rank
          INTO best FROM durable_ready AS r
         WHERE r.queue_id = which AND r.tenant = head.tenant AND r.priority = (last ->> 0)::smallint
           AND coalesce(r.own_rank, r.rank) >= (last ->> 1)::bigint
         ORDER BY r.priority DESC, coalesce(r.own_rank, r.rank), r.id LIMIT 1 FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            SELECT r.id, r.rank, r.priority, coalesce(r.own_rank, r.rank) AS own_rank
              INTO best FROM durable_ready AS r
             WHERE r.queue_id = which AND r.tenant = head.tenant
               AND r.priority < coalesce((last ->> 0)::smallint, 10)
             ORDER BY r.priority DESC, coalesce(r.own_rank, r.rank), r.id LIMIT 1 FOR UPDATE SKIP LOCKED;
        END IF;
        IF best.id IS NOT NULL THEN
            passed := passed || jsonb_build_object(head.tenant, jsonb_build_array(best.priority, best.own_rank));
        END IF;
        IF best.id IS NULL OR (best.priority, -best.own_rank, -best.id) <= (head.priority, -head.own_rank, -head.id) THEN
            best := head;
        END IF;
        IF limited THEN
            admitted := durable_admit(which, best.id, head.tenant, head.rank, best.priority, busy);
            busy := admitted.busy;
            IF admitted.starts_at IS NULL OR admitted.starts_at = '-infinity' THEN
                from_id := head.id + 1;
                skipped := skipped + 1;
                EXIT WHEN admitted.starts_at = '-infinity';
                CONTINUE;
            ELSIF admitted.starts_at = 'infinity' THEN
                denied := denied + 1;
                IF denied = 5 THEN
                    denied := denied + durable_line_fill(which, admitted.barred_by, head.tenant, from_rank);
                END IF;
                CONTINUE;
            END IF;
            starts_at := admitted.starts_at;
        END IF;
        IF best.id <> head.id AND best.rank > head.rank THEN
            UPDATE durable_ready SET rank = best.rank, own_rank = head.own_rank, priority = head.priority
             WHERE id = head.id;
            best.rank := head.rank;
        END IF;
        shown := greatest(best.rank, shown + 1);
        RETURN QUERY
        WITH gone AS (DELETE FROM durable_ready AS r WHERE r.id = best.id),
        leased AS (
            INSERT INTO durable_lease AS l (id, queue_id, rank, token, node, until)
            VALUES (best.id, which, best.rank, gen_random_uuid(), owner,
                    coalesce(starts_at, clock_timestamp()) + make_interval(secs => lease))
                ON CONFLICT DO NOTHING       -- see durable_take
            RETURNING l.token)
        SELECT m.id, leased.token::text, m.payload, m.delivery_count + 1, m.retry_count, m.snooze_count, m.lost_count,
               shown
          FROM leased CROSS JOIN durable_message AS m WHERE m.id = best.id;
        GET DIAGNOSTICS got = ROW_COUNT;
        most := most - got;
    END LOOP;
    IF limited THEN
        message_id := NULL;
        deliveries := denied;
        retries := skipped;
        RETURN NEXT;
    END IF;
END $$;

-- -> the priority that a payload of kombu's names; NULL: none, or it cannot be read.
CREATE OR REPLACE FUNCTION durable_priority(body text) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    named text;
BEGIN
    named := body::json #>> '{properties,priority}';
    RETURN CASE WHEN named ~ '^\d{1,9}$' THEN named::integer END;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END $$;
