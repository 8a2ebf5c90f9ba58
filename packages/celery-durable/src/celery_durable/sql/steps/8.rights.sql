-- Who could do something with the one table of messages can do it with those of version 8, and nothing more.
--
-- Who could change messages works, and needs all of the tables of states.  Anybody else reads at most.  A right to
-- write rows of one of these tables alone would be new: a single row there may say that a message stands in two places.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role,
               array_agg(privilege_type) AS acts
          FROM pg_class CROSS JOIN LATERAL aclexplode(relacl)
         WHERE oid = 'durable_message'::regclass AND grantee <> relowner GROUP BY grantee
    LOOP
        IF 'UPDATE' = ANY (one.acts) THEN
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON durable_ready, durable_lease, durable_waiting'
                           ' TO %s', one.role);
        ELSIF 'SELECT' = ANY (one.acts) THEN
            EXECUTE format('GRANT SELECT ON durable_ready, durable_lease, durable_waiting TO %s', one.role);
        END IF;
        IF one.acts && '{SELECT,UPDATE}' THEN
            EXECUTE format('GRANT SELECT ON broker_ready, broker_lease, broker_waiting TO %s', one.role);
        END IF;
        -- Through the view of the table's old name (stock.sql) a message and its state are one.
        IF NOT 'UPDATE' = ANY (one.acts) THEN
            EXECUTE format('REVOKE INSERT, DELETE ON durable_message FROM %s', one.role);
        END IF;
    END LOOP;
    -- Who could publish, by a function or, until version 5, by writing messages, can do it by both their names.
    FOR one IN
        SELECT DISTINCT named.before, named.now,
               CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
          FROM (VALUES ('kombu_message_publish', 'durable_publish'),
                       ('kombu_message_publish_many', 'durable_publish_many'),
                       ('kombu_message_in_the_way', 'durable_in_the_way'), ('kombu_queue_add', 'durable_queue_add'),
                       ('kombu_queue_exists', 'durable_queue_exists'),
                       ('kombu_queue_size', 'durable_queue_size')) AS named (before, now)
         CROSS JOIN LATERAL (
               SELECT proowner AS owner, a.grantee FROM pg_proc CROSS JOIN LATERAL aclexplode(proacl) AS a
                WHERE pg_proc.oid IN (named.before::regproc, named.now::regproc)) AS given
         WHERE grantee <> owner
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s, %s TO %s', one.before, one.now, one.role);
    END LOOP;
    -- Whoever uses the views of messages, and finds a token there, reads it by a function with the caller's rights.
    FOR one IN
        SELECT DISTINCT CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
          FROM (SELECT relowner AS owner, relacl AS acl FROM pg_class
                 WHERE oid IN ('broker_message'::regclass, 'kombu_message'::regclass)
                UNION ALL
                SELECT relowner, attacl FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
                 WHERE attrelid = 'broker_message'::regclass) AS given
         CROSS JOIN LATERAL aclexplode(acl)
         WHERE grantee <> owner AND privilege_type IN ('SELECT', 'UPDATE', 'DELETE')
    LOOP
        EXECUTE format('GRANT SELECT (id, token) ON durable_lease TO %s', one.role);
    END LOOP;
END $$;
