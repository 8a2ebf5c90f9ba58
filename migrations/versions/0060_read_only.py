"""Whether an operator has switched changes off, since when and why.

The previous release does not look: its web processes go on taking changes.
"""

from alembic import op

revision = "0060"
down_revision = "0059"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE read_only (
            only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
            since timestamptz NOT NULL DEFAULT clock_timestamp(),
            actor text NOT NULL,
            reason text
        )""")
    op.execute("COMMENT ON TABLE read_only IS 'a row while an operator has switched the changes of the web off'")


def downgrade() -> None:
    op.execute("DROP TABLE read_only")
