"""The versions of releases: that which brought the schema, and the oldest that works on it.

Releases before 0.4.0 read `oldest`, a revision.  A migration that contracts raises both, and `migrate` sets `version`.
"""

from alembic import op

revision = "0057"
down_revision = "0056"

LOCKS = {"schema_support": "ACCESS EXCLUSIVE"}


def upgrade() -> None:
    op.execute("""
        ALTER TABLE schema_support
          ADD COLUMN version text,
          ADD COLUMN oldest_version text NOT NULL DEFAULT '0.1.0'""")
    op.execute("""
        COMMENT ON COLUMN schema_support.version IS 'of the release whose migration was the last';
        COMMENT ON COLUMN schema_support.oldest_version IS 'of the oldest release that works on this schema';
        COMMENT ON COLUMN schema_support.oldest IS 'the same as a revision, for releases before 0.4.0'""")


def downgrade() -> None:
    op.execute("ALTER TABLE schema_support DROP COLUMN version, DROP COLUMN oldest_version")
    op.execute("COMMENT ON COLUMN schema_support.oldest IS NULL")
