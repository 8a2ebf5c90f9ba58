"""Passkeys, links to GitHub accounts, single-use secrets, and a count of sign-ups.

The previous release neither reads the tables nor fills the new column, which does without it.
"""

from pathlib import Path

from alembic import op

revision = "0034"
down_revision = "0033"

LOCKS = {"users": "ACCESS EXCLUSIVE"}

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0034_ways_in.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("ALTER TABLE users DROP COLUMN email_verified_at")
    op.execute("DROP TABLE sign_up_days, one_time_secrets, github_links, passkeys")
