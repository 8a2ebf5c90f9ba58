"""What each test of a file checks, beside the tests, so that lists of tests do not read it.

The previous release writes none.
"""

from alembic import op

revision = "0061"
down_revision = "0060"

LOCKS = {"file_inventories": "ACCESS EXCLUSIVE"}


def upgrade() -> None:
    op.execute("ALTER TABLE file_inventories ADD COLUMN checks jsonb")
    op.execute("""
        COMMENT ON COLUMN file_inventories.checks IS
            'what each test checks, in the order of tests; null in it or instead of it: not known'""")


def downgrade() -> None:
    op.execute("ALTER TABLE file_inventories DROP COLUMN checks")
