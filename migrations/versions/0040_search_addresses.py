"""An index on the addresses of repositories, by groups of three letters, for the search for a part of one.

It needs the extension pg_trgm, which the owner of a database may create where the server has it.  Without it the search
reads more addresses and finds the same.  The previous release notices nothing.
"""

from alembic import op
from sqlalchemy import text

from migrations import online

revision = "0040"
down_revision = "0039"

ONLINE = {"codebases": "index codebases_address_parts"}

INDEX = "codebases_address_parts"
# A server may lack the extension, or its operator may not allow it: neither stops a migration.
EXTENSION = """
DO $extension$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
        CREATE SCHEMA trigrams;
        CREATE EXTENSION pg_trgm SCHEMA trigrams;
    END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE 'without the extension pg_trgm, a search for repositories reads more addresses: %', SQLERRM;
END $extension$"""
REMOVE = """
DO $extension$
BEGIN
    IF EXISTS (SELECT FROM pg_extension
                WHERE extname = 'pg_trgm' AND extnamespace = to_regnamespace('trigrams')) THEN
        DROP EXTENSION pg_trgm;
        DROP SCHEMA trigrams;
    END IF;
EXCEPTION WHEN dependent_objects_still_exist THEN
    RAISE NOTICE 'the extension pg_trgm stays, because it is used';
END $extension$"""
WHERE_IT_IS = """
    SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.extname = 'pg_trgm'"""


def upgrade() -> None:
    op.execute(EXTENSION)
    schema = op.get_bind().execute(text(WHERE_IT_IS)).scalar_one_or_none()
    if schema is None:
        return
    address = f"(lower(host || '/' || owner || '/' || name) {schema}.gin_trgm_ops)"
    online.create_index(INDEX, f"ON codebases USING gin {address} WHERE NOT is_private")


def downgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")
    op.execute(REMOVE)
