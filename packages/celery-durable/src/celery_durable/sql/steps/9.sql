-- The primary keys become the newest indexes of their tables, see states.sql.  Those that were built CONCURRENTLY before,
-- with `_key` at the end of their names, are taken, and then nobody waits here longer than for the locks.
DO $$
DECLARE
    state text;
    built text;
BEGIN
    FOREACH state IN ARRAY '{durable_ready,durable_waiting}'::text[] LOOP
        built := state || '_key';
        IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(built) AND NOT indisvalid) THEN
            EXECUTE format('DROP INDEX %I', built);
        END IF;
        IF to_regclass(built) IS NULL THEN
            EXECUTE format('CREATE UNIQUE INDEX %I ON %I (id)', built, state);
        END IF;
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', state, state || '_pkey');
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I PRIMARY KEY USING INDEX %I', state, state || '_pkey', built);
    END LOOP;
END $$;
