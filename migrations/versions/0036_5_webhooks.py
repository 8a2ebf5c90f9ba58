"""Webhooks and their deliveries."""

from pathlib import Path

from alembic import op

revision = "0036.5"
down_revision = "0036.4"


def upgrade() -> None:
    op.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP TABLE webhook_deliveries, webhooks")
