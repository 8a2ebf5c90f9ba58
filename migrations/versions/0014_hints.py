"""What a file's tests are about, beside its tests; rows of before have none."""

from alembic import op

revision = "0014"
down_revision = "0013"

COLUMN = """
ALTER TABLE file_inventories ADD COLUMN hints jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN file_inventories.hints IS 'what the file imports and calls, 30 at most'
"""
# Not validated: the rows that are there all have the default, and reading them would hold up every worker.
BOUND = """
ALTER TABLE file_inventories ADD CONSTRAINT file_inventories_hints CHECK (jsonb_array_length(hints) <= 30) NOT VALID
"""


def upgrade() -> None:
    op.execute(COLUMN)
    op.execute(BOUND)


def downgrade() -> None:
    op.execute("ALTER TABLE file_inventories DROP COLUMN hints")
