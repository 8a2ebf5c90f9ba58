"""Objects outside the database, and which facts and last inventories are in them.

The previous release reads none of it: it parses those files again, and takes a whole inventory instead.  It leaves
`object_id` behind when it writes an inventory, so one with content counts before that.
"""

from alembic import op

from migrations import online

revision = "0064"
down_revision = "0063"

LOCKS = {"last_inventories": "ACCESS EXCLUSIVE"}
ONLINE = {"last_inventories": "index last_inventories_object"}


def upgrade() -> None:
    # again, if the build of the index was interrupted
    op.execute("ALTER TABLE last_inventories ADD COLUMN IF NOT EXISTS object_id bigint")
    online.create_index("last_inventories_object", "ON last_inventories (object_id) WHERE object_id IS NOT NULL")
    op.execute("""
        CREATE TABLE stored_objects (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            digest bytea NOT NULL UNIQUE,
            kind text NOT NULL CHECK (kind IN ('facts', 'inventory')),
            parser_version text NOT NULL,
            size integer NOT NULL,
            put_at timestamptz NOT NULL
        )""")
    op.execute("""
        COMMENT ON COLUMN stored_objects.put_at IS
            'when a job last began to store it; that job may refer to it yet'""")
    op.execute("""
        COMMENT ON COLUMN last_inventories.object_id IS
            'the stored object that has the content, if the content here is empty'""")
    op.execute("""
        CREATE TABLE packed_facts (
            blob_id text NOT NULL,
            language text NOT NULL,
            object_id bigint NOT NULL REFERENCES stored_objects ON DELETE CASCADE,
            PRIMARY KEY (blob_id, language, object_id)
        )""")
    op.execute("CREATE INDEX packed_facts_object ON packed_facts (object_id)")


def downgrade() -> None:
    op.execute("ALTER TABLE last_inventories DROP COLUMN object_id")
    op.execute("DROP TABLE packed_facts")
    op.execute("DROP TABLE stored_objects")
