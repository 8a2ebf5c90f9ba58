"""The rights of the application's role on the owner's tables, as SQL (docs/adr/0035).

The role reads and writes rows and calls functions.  It can neither change, drop or empty a table nor create one: the
service needs none of this, and an attacker who controls a web process or a worker must not have it either.  To the
operators' log it only appends.
"""

from __future__ import annotations

_TABLES = "SELECT, INSERT, UPDATE, DELETE"
_SEQUENCES = "USAGE, SELECT"
# Existing objects, if the caller owns them: extensions may have put views of their own into the schema.
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
    -- Those with the owner's rights are not everybody's to call: by some of them messages are published.
    FOR found IN SELECT oid::regprocedure AS name FROM pg_proc
                  WHERE pronamespace = current_schema()::regnamespace AND prosecdef AND pg_has_role(proowner, 'USAGE')
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO {role}', found.name);
    END LOOP;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO {role}', current_schema());
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT {tables} ON TABLES TO {role}', current_schema());
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT {sequences} ON SEQUENCES TO {role}', current_schema());
    IF to_regclass('alembic_version') IS NOT NULL THEN
        EXECUTE 'REVOKE INSERT, UPDATE, DELETE ON alembic_version FROM {plain}';
    END IF;
    -- Updates are ignored by a trigger, because the release before 0043 makes one when an account is deleted.
    IF to_regclass('audit_log') IS NOT NULL THEN
        EXECUTE 'REVOKE DELETE ON audit_log FROM {plain}';
    END IF;
END $grant$"""


def grants(role: str) -> str:
    """One statement for the owner, which grants these rights on all existing and future objects of this schema."""
    quoted = '"{}"'.format(role.replace('"', '""')).replace("'", "''")
    return _NOW.format(role=quoted.replace("%", "%%"), plain=quoted, tables=_TABLES, sequences=_SEQUENCES)
