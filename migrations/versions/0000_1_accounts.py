"""Accounts: users, tokens, sessions, plans and subscriptions, and limits of rates.

This and the three after it hold, with 0025, what the migrations 0001 to 0025 made (docs/adr/0051).
"""

from pathlib import Path

from alembic import op

revision = "0000.1"
down_revision = None


def upgrade() -> None:
    op.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("""
        DROP TABLE rate_buckets, sign_in_links, sessions, api_tokens, user_subscriptions, subscription_plans, users;
        DROP TYPE usage_event_type, plan_tier""")
