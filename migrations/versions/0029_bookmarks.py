"""Bookmarks.  It only adds a table, which the previous release does not notice."""

from pathlib import Path

from alembic import op

revision = "0029"
down_revision = "0028"

LOCKS = {"users": "SHARE ROW EXCLUSIVE", "codebases": "SHARE ROW EXCLUSIVE"}

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0029_bookmarks.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP TABLE bookmarks")
