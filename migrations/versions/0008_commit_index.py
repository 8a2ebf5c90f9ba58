"""The records of one commit: an accept looks for the newest of them, however many a repository has."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.execute("CREATE INDEX analyses_commit ON analyses (codebase_id, commit_sha, parser_version, started_at DESC)")


def downgrade() -> None:
    op.execute("DROP INDEX analyses_commit")
