"""When commits were made, and which branch is a repository's default: results are ordered by them; docs/adr/0034."""

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.execute("""
        ALTER TABLE analyses ADD COLUMN committed_at timestamptz;
        ALTER TABLE codebases ADD COLUMN default_branch text;
        COMMENT ON COLUMN analyses.committed_at IS
            'when the commit was made, by its committer; the microseconds count its ancestors of the same second';
        COMMENT ON COLUMN codebases.default_branch IS 'what HEAD was when somebody last asked for it';
        -- not concurrently: that would wait for hosts that wait for the lock of this migration
        CREATE INDEX analyses_commit_order ON analyses (codebase_id, coalesce(committed_at, completed_at) DESC)
            WHERE status = 'completed'""")


def downgrade() -> None:
    op.execute("""
        DROP INDEX analyses_commit_order;
        ALTER TABLE analyses DROP COLUMN committed_at;
        ALTER TABLE codebases DROP COLUMN default_branch""")
