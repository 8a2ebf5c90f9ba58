"""Which commits are on the default branch.  It only adds a table, which the previous release does not notice.

Nothing is filled in: for commits without a row, the requests of the default branch's name count as before.
"""

from pathlib import Path

from alembic import op

revision = "0039"
down_revision = "0038"

LOCKS = {"codebases": "SHARE ROW EXCLUSIVE"}

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0039_branch_commits.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP TABLE branch_commits")
