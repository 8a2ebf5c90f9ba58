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
               array_agg(privilege_type) AS acts, bool_or(is_grantable AND privilege_type = 'SELECT') AS may_show
          FROM pg_class CROSS JOIN LATERAL aclexplode(relacl)
         WHERE oid = 'durable_message'::regclass AND grantee <> relowner GROUP BY grantee
    LOOP
        IF 'UPDATE' = ANY (one.acts) THEN
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON durable_ready, durable_lease, durable_waiting,'
                           ' durable_limit, durable_line TO %s', one.role);
        END IF;
        IF one.acts && '{SELECT,UPDATE}' THEN
            EXECUTE format('GRANT SELECT ON durable_ready, durable_lease, durable_waiting, durable_limit, durable_line,'
                           ' broker_ready, broker_lease, broker_waiting, broker_limit TO %s %s', one.role, CASE WHEN one.may_show THEN 'WITH GRANT OPTION' END);
        END IF;
        -- Through the view of the table's old name (stock.sql) a message and its state are one.  CASCADE: what this one
        -- gave to others they have of the view as well.
        IF NOT 'UPDATE' = ANY (one.acts) THEN
            EXECUTE format('REVOKE INSERT, DELETE ON durable_message FROM %s CASCADE', one.role);
        END IF;
    END LOOP;
    -- Nor is a column written alone that another table repeats, but by who writes them all.
    FOR one IN
        SELECT DISTINCT attname AS part, privilege_type AS act,
               CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
          FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid CROSS JOIN LATERAL aclexplode(attacl) AS a
         WHERE attrelid = 'durable_message'::regclass AND NOT attisdropped AND grantee <> relowner
           AND privilege_type IN ('INSERT', 'UPDATE')
           AND NOT EXISTS (SELECT FROM aclexplode(relacl) AS w
                            WHERE w.grantee = a.grantee AND w.privilege_type = 'UPDATE')
    LOOP
        EXECUTE format('REVOKE %s (%I) ON durable_message FROM %s CASCADE', one.act, one.part, one.role);
    END LOOP;
    FOR one IN SELECT * FROM durable_kept_rights LOOP
        EXECUTE format('GRANT %s (%I) ON kombu_message TO %s %s', one.act, one.part, one.role,
                       CASE WHEN one.is_grantable THEN 'WITH GRANT OPTION' END);
    END LOOP;
    DROP TABLE durable_kept_rights;
    -- Who could read a queue's floor, and write it, claims, and does so with what a claim knows of priorities and limits.
    FOR one IN
        SELECT DISTINCT privilege_type AS act,
               CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
          FROM pg_attribute CROSS JOIN LATERAL aclexplode(attacl)
         WHERE attrelid = 'durable_queue'::regclass AND attname = 'rank_floor' AND privilege_type IN ('SELECT', 'UPDATE')
    LOOP
        EXECUTE format('GRANT %1$s (has_priorities), %1$s (has_limits) ON durable_queue TO %2$s', one.act, one.role);
    END LOOP;
    -- Who could publish, by a function or, until version 5, by writing messages, can do it by both their names.
    FOR one IN
        SELECT named.before, named.now, bool_or(given.is_grantable) AS is_grantable,
               CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
          FROM (VALUES ('kombu_message_publish', 'durable_publish'),
                       ('kombu_message_publish_many', 'durable_publish_many'),
                       ('kombu_message_in_the_way', 'durable_in_the_way'), ('kombu_queue_add', 'durable_queue_add'),
                       ('kombu_queue_exists', 'durable_queue_exists'),
                       ('kombu_queue_size', 'durable_queue_size')) AS named (before, now)
         CROSS JOIN LATERAL (
               SELECT proowner AS owner, a.grantee, a.is_grantable FROM pg_proc
                CROSS JOIN LATERAL aclexplode(proacl) AS a
                WHERE pg_proc.oid IN (named.before::regproc, named.now::regproc)) AS given
         WHERE grantee <> owner GROUP BY named.before, named.now, grantee
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s, %s TO %s %s', one.before, one.now, one.role,
                       CASE WHEN one.is_grantable THEN 'WITH GRANT OPTION' END);
    END LOOP;
    -- Who uses the views of messages, and finds a token there, reads it by a function with the caller's rights.  Who
    -- may read other columns only finds none; the triggers read them all.
    FOR one IN
        SELECT DISTINCT CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
          FROM (SELECT oid, relowner AS owner, true AS is_read, relacl AS acl FROM pg_class
                UNION ALL
                SELECT attrelid, relowner, attname = 'lease_token', attacl
                  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid) AS given
         CROSS JOIN LATERAL aclexplode(acl)
         WHERE oid IN ('broker_message'::regclass, 'kombu_message'::regclass) AND grantee <> owner
           AND (privilege_type IN ('UPDATE', 'DELETE') OR privilege_type = 'SELECT' AND is_read)
    LOOP
        EXECUTE format('GRANT SELECT (id, token) ON durable_lease TO %s', one.role);
    END LOOP;
END $$;
