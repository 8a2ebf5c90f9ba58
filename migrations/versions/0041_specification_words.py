"""A hash of the words of a specification.  The previous release does not notice the column."""

from alembic import op

revision = "0041"
down_revision = "0040"

LOCKS = {"spec_documents": "ACCESS EXCLUSIVE"}


def upgrade() -> None:
    op.execute("ALTER TABLE spec_documents ADD COLUMN words_hash bytea")
    op.execute(
        "COMMENT ON COLUMN spec_documents.words_hash IS"
        " 'of its places and sentences; null if some fell back, or it was written before there was this column'"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE spec_documents DROP COLUMN words_hash")
