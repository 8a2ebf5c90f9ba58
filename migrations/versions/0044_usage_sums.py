"""Sums of billed units by user, kind and hour, and the trigger that keeps them.  The previous release notices neither.

The sums of older events are filled in by the next migration, which also begins to use them.
"""

from pathlib import Path

from alembic import op

revision = "0044"
down_revision = "0043"

LOCKS = {"usage_events": "SHARE ROW EXCLUSIVE", "users": "SHARE ROW EXCLUSIVE"}

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0044_usage_sums.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP TRIGGER usage_events_sum_up ON usage_events")
    op.execute("DROP FUNCTION usage_events_sum_up")
    op.execute("DROP TABLE usage_sums, backfills")
