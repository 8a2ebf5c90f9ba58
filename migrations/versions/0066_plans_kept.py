"""Look for deliveries to webhooks by functions, whose plans a session keeps (docs/adr/0094).

The previous release sends the same as statements.
"""

from pathlib import Path

from alembic import op

revision = "0066"
down_revision = "0065"


def upgrade() -> None:
    op.execute(Path(__file__).with_name("0066_functions.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    for name in ("webhooks_due", "webhooks_claim", "webhook_next", "webhook_log", "webhooks_waiting"):
        op.execute(f"DROP FUNCTION {name}")
