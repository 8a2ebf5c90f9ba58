-- As app/store/sql/audit_log.sql.
-- Leave a row as it is, unless the owner of the table changes it.  Silently, as the release before 0043 tries to update
-- it when an account is deleted; what that update is for is done by the trigger on users.  Temporary tables are last on
-- the path of each function that has one: a path without them begins with them, and a caller's pg_class would say whose
-- the log is.
-- Returns: the row for the owner, none for others.  Locks: nothing.
CREATE OR REPLACE FUNCTION audit_log_keep() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        RETURN coalesce(NEW, OLD);
    END IF;
    RETURN NULL;
END $$;

-- Remove a person who is deleted from the log: the id and the whole address, and nothing that only contains them.  An
-- address that was never verified may be somebody else's, so nothing is removed that was written before the account was
-- made: a stranger could choose the address in an operator's note.  It has the rights of its owner, so it serves no
-- table of a caller, beside which there could be a log with a trigger of the caller's.
-- Returns: the row.  Locks: the entries that name the person.
CREATE OR REPLACE FUNCTION audit_log_forget() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    names text[] := ARRAY[OLD.id::text, OLD.email];
    -- An hour: the two instants are of two clocks.
    since timestamptz := CASE WHEN OLD.email_verified_at IS NULL THEN OLD.created_at - interval '1 hour'
                              ELSE '-infinity' END;
    -- Facts are searched as the text of JSON.
    word text := format('(?:%s|%s)', OLD.id,
                        regexp_replace(btrim(to_json(OLD.email)::text, '"'), '([][(){}.*+?^$|\\])', '\\\1', 'g'));
    -- A word may also follow an escape such as \n, and must not begin within one: what is left of a line break before
    -- @example.org would be no JSON.
    pattern text := '(?:(?<![[:alnum:]_.+%-])(?<=(?:^|[^\\])(?:\\\\)*)|(?<=\\[bfnrt]))' || word
                    || '(?![[:alnum:]_@-]|\.[[:alnum:]_])';
BEGIN
    IF NOT (SELECT relpersistence <> 't' AND pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = TG_RELID) THEN
        RAISE EXCEPTION '% has no operators'' log', TG_RELID::regclass USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- The tables of this schema are not on the path.  What stands before a word is slow to look for, 30 us an entry, so
    -- only entries with the word are asked.
    EXECUTE format($statement$
        UPDATE %I.audit_log
           SET actor = CASE WHEN actor = ANY ($1) THEN $3 ELSE actor END,
               subject = CASE WHEN subject = ANY ($1) THEN $3 ELSE subject END,
               facts = regexp_replace(facts::text, $2, $3, 'gi')::jsonb
         WHERE at >= $5
           AND (actor = ANY ($1) OR subject = ANY ($1) OR facts::text ~* $4 AND facts::text ~* $2)$statement$,
                   TG_TABLE_SCHEMA)
      USING names, pattern, 'deleted account', word, since;
    RETURN OLD;
END $$;

-- As app/store/sql/webhooks.sql.
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
