"""The order of commits on the default branch, and when it was last looked at.  The previous release notices neither.

A row that it adds meanwhile has no order, and is the last one until a worker looks at the branch again.
"""

from pathlib import Path

from alembic import op

from migrations import online

revision = "0051"
down_revision = "0050"

LOCKS = {"branch_commits": "ACCESS EXCLUSIVE", "codebases": "ACCESS EXCLUSIVE"}
ONLINE = {"branch_commits": "is filled in, 5,000 rows at a time; index branch_commits_newest"}

HERE = Path(__file__).parent
TO_DO = "branch_commits_without_order"
BATCH = """
    UPDATE branch_commits b SET ordered_at = coalesce(
               (SELECT max(coalesce(a.committed_at, a.completed_at)) FROM analyses a
                 WHERE a.codebase_id = b.codebase_id AND a.commit_sha = b.commit_sha AND a.status = 'completed'),
               b.seen_at)
      FROM (SELECT codebase_id, commit_sha FROM branch_commits
             WHERE is_member AND ordered_at IS NULL ORDER BY codebase_id, commit_sha LIMIT 5000
               FOR NO KEY UPDATE) AS next
     WHERE b.codebase_id = next.codebase_id AND b.commit_sha = next.commit_sha"""


def upgrade() -> None:
    op.execute(HERE.joinpath("0051_order_of_branch_commits.sql").read_text(encoding="utf-8"))
    online.create_index(TO_DO, "ON branch_commits (codebase_id, commit_sha) WHERE is_member AND ordered_at IS NULL")
    online.in_batches(BATCH)
    online.create_index(
        "branch_commits_newest", "ON branch_commits (codebase_id, ordered_at DESC NULLS LAST) WHERE is_member"
    )
    op.execute(f"DROP INDEX {TO_DO}")


def downgrade() -> None:
    op.execute("DROP INDEX branch_commits_newest")
    op.execute("ALTER TABLE codebases DROP COLUMN looked_at")
    op.execute("ALTER TABLE branch_commits DROP COLUMN ordered_at")
