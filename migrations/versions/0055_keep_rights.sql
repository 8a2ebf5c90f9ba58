-- Write down who may do what with the broker's tables, views and functions, by the names that version 7 has for them.
-- `part`: a column; `object`: as a name or, with the types of its arguments, a function.  Three have a priority as their
-- last argument, which version 7 has not.
CREATE TEMP TABLE kept_rights ON COMMIT DROP AS
WITH relations AS (
    SELECT oid, CASE relname WHEN 'durable_message' THEN 'kombu_message' WHEN 'durable_queue' THEN 'kombu_queue'
                             ELSE relname::text END AS object, relowner AS owner, relacl AS acl
      FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v')
       AND relname ~ '^(durable|kombu|broker)_'),
given AS (
    SELECT 'TABLE' AS kind, object, NULL::text AS part, owner, acl FROM relations
    UNION ALL
    SELECT 'TABLE', object, CASE WHEN object <> 'kombu_message' THEN attname WHEN attname = 'tenant' THEN 'user_id'
                                 WHEN attname = 'step' THEN 'rank_step' ELSE attname::text END, owner, attacl
      FROM relations JOIN pg_attribute ON attrelid = oid
     WHERE attacl IS NOT NULL AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT 'FUNCTION', regexp_replace(regexp_replace(proname, '^durable_(queue|group)_', 'kombu_\1_'),
                                      '^durable_', 'kombu_message_')
                       || '(' || CASE WHEN proname IN ('durable_publish', 'durable_publish_many', 'durable_retry')
                                      THEN regexp_replace(oidvectortypes(proargtypes), ', integer(\[\])?$', '')
                                      ELSE oidvectortypes(proargtypes) END || ')', NULL, proowner, proacl
      FROM pg_proc
     WHERE pronamespace = current_schema()::regnamespace AND proname ~ '^(durable|kombu|broker)_')
SELECT DISTINCT kind, object, part, privilege_type AS act, is_grantable,
       CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
  FROM given CROSS JOIN LATERAL aclexplode(acl)
 WHERE grantee <> owner;
-- Whose rights were ever named: from these PUBLIC's were perhaps taken away.
CREATE TEMP TABLE kept_functions ON COMMIT DROP AS
SELECT proname || '(' || oidvectortypes(proargtypes) || ')' AS object FROM pg_proc
 WHERE pronamespace = current_schema()::regnamespace AND proname ~ '^(kombu|broker)_' AND proacl IS NOT NULL;
