-- Take tables and views for a change of them, all in this place, so that nothing later waits for anybody.  {relations}:
-- their names in order; one that is not there is left out.
--
-- Who has used one of them and waits for another one, which is taken already, must not be told of a deadlock, and
-- nobody waits for long behind one whose transaction stays open.  So all are to be had in 0.3 s together, less than any
-- session waits before it looks for a deadlock; otherwise they are given back and tried again, for 15 s at most.
--
-- A vacuum or analyze that the server began by itself ends when somebody waits for it longer than that.  It is waited
-- for before, once at each table, with a lock that nobody else waits for who reads or writes.  Of the processes that
-- have such locks only the server's own are of no user, which everybody may see; one that somebody began does not end.
--
-- A view is taken without the catalogs that it names, which LOCK would take as well.
DO $$
DECLARE
    patience CONSTANT interval := '15 s';
    last_moment CONSTANT timestamptz := clock_timestamp() + patience;
    looks_after CONSTANT integer := (SELECT setting::integer FROM pg_settings WHERE name = 'deadlock_timeout');
    limit_ms CONSTANT integer := least(300, greatest(looks_after / 2, 10));
    wanted CONSTANT regclass[] := ARRAY(
        SELECT to_regclass(name) FROM unnest('{relations}'::text[]) WITH ORDINALITY AS given (name, place)
         WHERE to_regclass(name) IS NOT NULL ORDER BY place);
    one regclass;
    vacuum integer;
    waited_for text[] := '{}';
    deadline timestamptz;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'upgrade the tables in a READ COMMITTED transaction'
              USING detail = 'Another one would not see what was published before it had the tables to itself.';
    END IF;
    LOOP
        PERFORM pg_stat_clear_snapshot();    -- else a transaction sees the processes of its first look
        FOR vacuum, one IN
            SELECT l.pid, l.relation FROM pg_locks AS l JOIN pg_stat_activity AS s ON s.pid = l.pid
             WHERE l.relation = ANY (wanted::oid[]) AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted
               AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
               AND s.usesysid IS NULL AND concat_ws(' ', l.pid, l.relation) <> ALL (waited_for)
        LOOP
            waited_for := waited_for || concat_ws(' ', vacuum, one::oid);
            BEGIN
                PERFORM set_config('lock_timeout', least(looks_after + 500, greatest(
                    1, extract(epoch FROM last_moment - clock_timestamp()) * 1000))::integer || 'ms', true);
                EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', one);
                RAISE EXCEPTION USING errcode = 'BR000';  -- gives it back
            EXCEPTION WHEN SQLSTATE 'BR000' OR lock_not_available OR deadlock_detected THEN
                NULL;
            END;
        END LOOP;
        BEGIN
            deadline := clock_timestamp() + make_interval(secs => limit_ms / 1000.0);
            FOREACH one IN ARRAY wanted LOOP
                PERFORM set_config('lock_timeout', greatest(1, extract(epoch FROM deadline - clock_timestamp()) * 1000)
                                                   ::integer || 'ms', true);
                IF (SELECT relkind = 'v' FROM pg_class WHERE oid = one) THEN
                    EXECUTE format('ALTER VIEW %s RESET (security_barrier)', one);
                ELSE
                    EXECUTE format('LOCK TABLE ONLY %s', one);
                END IF;
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF clock_timestamp() >= last_moment THEN
                RAISE EXCEPTION 'the lock of % was not to be had in %', one, patience
                      USING errcode = 'lock_not_available', hint = concat(
                          'End the transactions that have it, of the processes ', (
                              SELECT string_agg(DISTINCT pid::text, ', ') FROM pg_locks
                               WHERE relation = one AND granted AND pid <> pg_backend_pid()), ', and try again.');
            END IF;
            PERFORM pg_sleep(0.2);
        END;
    END LOOP;
    -- Should something have been forgotten, this is given up, and nobody waits behind it.
    PERFORM set_config('lock_timeout', '1s', true);
END $$;
