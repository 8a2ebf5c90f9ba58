-- The log of operators' actions: the application's role appends to it, and the owner of the tables changes it for one
-- purpose, when an account is deleted (docs/adr/0042, docs/adr/0060).

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

CREATE OR REPLACE TRIGGER audit_log_keep BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION audit_log_keep();

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

CREATE OR REPLACE TRIGGER users_leave_audit_log BEFORE DELETE ON users
    FOR EACH ROW WHEN (OLD.email IS NOT NULL) EXECUTE FUNCTION audit_log_forget();
