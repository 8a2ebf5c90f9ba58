"""The last inventory of each repository, of which the next one takes over what has not changed.

The previous release writes none, and the next analysis reads the one from before it.
"""

from alembic import op

revision = "0062"
down_revision = "0061"

LOCKS = {"analyses": "SHARE ROW EXCLUSIVE", "codebases": "SHARE ROW EXCLUSIVE"}


def upgrade() -> None:
    op.execute("""
        CREATE TABLE last_inventories (
            codebase_id uuid PRIMARY KEY REFERENCES codebases ON DELETE CASCADE,
            analysis_id uuid NOT NULL UNIQUE REFERENCES analyses ON DELETE CASCADE,
            content bytea NOT NULL
        )""")
    op.execute("ALTER TABLE last_inventories ALTER COLUMN content SET STORAGE EXTERNAL")  # it is compressed
    op.execute("""
        COMMENT ON COLUMN last_inventories.content IS 'as the engine packed it, without what its tests check'""")


def downgrade() -> None:
    op.execute("DROP TABLE last_inventories")
