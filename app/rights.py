"""What the application's role may do with the owner's tables, as SQL (docs/adr/0035).

It reads and writes rows and calls functions.  It can neither change nor drop nor empty a table, nor make one: the
service needs none of it, and who gets hold of a web process or a worker shall not have it either.
"""

from __future__ import annotations

_TABLES = "SELECT, INSERT, UPDATE, DELETE"
_SEQUENCES = "USAGE, SELECT"
# What is there, if it is the caller's: extensions may have put views of their own beside our tables.
_NOW = """
DO $grant$
DECLARE found record;
BEGIN
    FOR found IN SELECT c.oid::regclass AS name, c.relkind AS kind FROM pg_class c
                  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
                    AND pg_has_role(c.relowner, 'USAGE')
    LOOP
        EXECUTE format('GRANT %s ON %s %s TO {role}',
                       CASE WHEN found.kind = 'S' THEN '{sequences}' ELSE '{tables}' END,
                       CASE WHEN found.kind = 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, found.name);
    END LOOP;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO {role}', current_schema());
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT {tables} ON TABLES TO {role}', current_schema());
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT {sequences} ON SEQUENCES TO {role}', current_schema());
    IF to_regclass('alembic_version') IS NOT NULL THEN
        EXECUTE 'REVOKE INSERT, UPDATE, DELETE ON alembic_version FROM {plain}';
    END IF;
END $grant$"""


def grants(role: str) -> str:
    """One statement for the owner: these rights on all that is there and on all that it will make in this schema."""
    quoted = '"{}"'.format(role.replace('"', '""')).replace("'", "''")
    return _NOW.format(role=quoted.replace("%", "%%"), plain=quoted, tables=_TABLES, sequences=_SEQUENCES)
