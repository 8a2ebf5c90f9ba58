#!/bin/sh
# The two roles of the service: one owns the tables, for migrations; the other works with their rows.  Neither is superuser.
# The image runs this when it makes the database.  It may be repeated, and divides a database that one role owned:
#   docker compose -f docker/compose.yaml exec postgres sh /docker-entrypoint-initdb.d/10-roles.sh
set -eu
secrets=${SECRETS:-/run/secrets}
export PGPASSWORD="${PGPASSWORD:-$(cat "$secrets/postgres_password")}"

# user and password of a URL as a quoted word of psql, which reads \x40 as every client reads %40;
# by a pipe, since everybody on the machine may read arguments
part() {
  sed -E -e "s|^[^:]*://([^:]*):([^@]*)@.*|\\$1|" -e 's|\\|\\\\|g' -e "s|'|''|g" -e 's|%([0-9A-Fa-f]{2})|\\x\1|g' -e "s|.*|'&'|" "$secrets/$2"
}

psql -X --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<SQL
\set owner $(part 1 database_owner_url)
\set owner_password $(part 2 database_owner_url)
\set app $(part 1 database_url)
\set app_password $(part 2 database_url)
BEGIN;
SELECT format('CREATE ROLE %I', name) FROM unnest(ARRAY[:'owner', :'app']) AS name
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE :"owner" LOGIN NOSUPERUSER NOCREATEROLE CREATEDB PASSWORD :'owner_password';
ALTER ROLE :"app" LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB PASSWORD :'app_password';
ALTER DATABASE :"DBNAME" OWNER TO :"owner";
REVOKE ALL ON DATABASE :"DBNAME" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"DBNAME" TO :"app";
ALTER SCHEMA public OWNER TO pg_database_owner;
SELECT format('ALTER %s %s OWNER TO %I', kind, name, :'owner') FROM (
    -- sequences of columns go with their tables
    SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END AS kind, c.oid::regclass::text AS name
      FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S')
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass
                          AND (d.deptype = 'e' OR c.relkind = 'S' AND d.deptype IN ('a', 'i')))
    UNION ALL SELECT 'ROUTINE', p.oid::regprocedure::text FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e')
    UNION ALL SELECT 'TYPE', t.oid::regtype::text FROM pg_type t
     WHERE t.typnamespace = 'public'::regnamespace AND t.typtype IN ('e', 'd')) AS found \gexec
COMMIT;
SQL
