-- Give back what 0055_keep_rights.sql wrote down, and nothing that new objects have by default.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT DISTINCT oid::regclass AS place,
               CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
          FROM pg_class CROSS JOIN LATERAL aclexplode(relacl)
         WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v') AND relname ~ '^(kombu|broker)_'
           AND grantee <> relowner
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', one.place, one.role);
    END LOOP;
    FOR one IN SELECT object::regprocedure AS place FROM kept_functions WHERE to_regprocedure(object) IS NOT NULL LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', one.place);
    END LOOP;
    FOR one IN
        SELECT kind, object, part, act, role, bool_or(is_grantable) AS is_grantable FROM kept_rights
         WHERE CASE WHEN kind = 'FUNCTION' THEN to_regprocedure(object) IS NOT NULL
                    WHEN part IS NULL THEN to_regclass(object) IS NOT NULL
                    ELSE EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass(object) AND attname = part) END
         GROUP BY 1, 2, 3, 4, 5
    LOOP
        EXECUTE format('GRANT %s %s ON %s %s TO %s %s', one.act, '(' || quote_ident(one.part) || ')', one.kind,
                       one.object, one.role, CASE WHEN one.is_grantable THEN 'WITH GRANT OPTION' END);
    END LOOP;
END $$;
