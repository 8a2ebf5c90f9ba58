-- Nodes are judged by one of them for all, in two looks.  Who could judge them still may.
ALTER TABLE kombu_node ADD suspected_at timestamptz;
CREATE UNLOGGED TABLE kombu_judgement (
    judged_at timestamptz NOT NULL,
    any_leases boolean NOT NULL,
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one));
DO $$
DECLARE
    worker text;
BEGIN
    FOR worker IN
        SELECT DISTINCT CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END
          FROM pg_class CROSS JOIN LATERAL aclexplode(relacl)
         WHERE oid = 'kombu_node'::regclass AND privilege_type = 'UPDATE' AND grantee <> relowner
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON kombu_judgement TO %s', worker);
    END LOOP;
END $$;
