"""Passwords, and sessions that their user can tell apart.

The previous release neither reads the table nor fills the new columns, which do without it.
"""

from pathlib import Path

from alembic import op

revision = "0032"
down_revision = "0031"

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0032_passwords.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("ALTER TABLE sessions DROP COLUMN id, DROP COLUMN last_used_at")
    op.execute("DROP TABLE passwords")
