"""Webhooks, and the trigger that makes their deliveries.  The previous release notices neither."""

from pathlib import Path

from alembic import op

revision = "0033"
down_revision = "0032"

LOCKS = {"users": "SHARE ROW EXCLUSIVE", "job_events": "SHARE ROW EXCLUSIVE"}

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0033_webhooks.sql").read_text(encoding="utf-8"))
    op.execute(HERE.joinpath("0033_functions.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP TRIGGER job_events_tell_webhooks ON job_events")
    op.execute("DROP FUNCTION webhooks_tell")
    op.execute("DROP TABLE webhook_deliveries, webhooks")
