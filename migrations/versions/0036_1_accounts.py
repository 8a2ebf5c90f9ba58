"""Accounts: users, their ways in, tokens, sessions, plans and subscriptions, and limits of rates.

This and the four after it hold, with 0037, what the migrations 0001 to 0037 made (docs/adr/0066).
"""

from pathlib import Path

from alembic import op

revision = "0036.1"
down_revision = None


def upgrade() -> None:
    op.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("""
        DROP TABLE rate_buckets, sign_up_days, one_time_secrets, github_links, passkeys, passwords, sign_in_links,
            sessions, api_tokens, user_subscriptions, subscription_plans, users;
        DROP TYPE usage_event_type, plan_tier""")
